-- Takes the claim on a target for a probe, unless another has it or another's probe makes this one needless.
--
-- KEYS   one hash tag: 1 claim (string)  2 probed (hash), in seconds of this clock: `began` the newest probe began,
--        `told` one told something (or up to when turns are covered), `confirmed` a confirming one began that told
-- ARGV   1 the holder    2 milliseconds until the claim lapses by itself
--        3 what for: turn | confirm | pace    4 seconds since 1970: what others did since then may do
--        5 seconds by which a moment in `probed` may lie ahead; further ahead, the clock was set back
-- Reply  { 1 if the holder has the claim now, else 0; milliseconds until another's claim lapses, 0 if nothing is in the
--        way or the probe is needless; seconds since the newest probe began as text, empty if it isn't known }

local KEPT_S = 2 * 86400
-- A clock that is compared with this one over a network may be ahead by so much.
local SLACK_S = 1

local holder, lease_ms, need, since, ahead_s = unpack(ARGV)
since = tonumber(since)
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000

local found = redis.call('HMGET', KEYS[2], 'began', 'told', 'confirmed')
local function moment(text)
  local at = tonumber(text or '') or 0
  return at <= now + tonumber(ahead_s) and at or 0
end
local began, told, confirmed = moment(found[1]), moment(found[2]), moment(found[3])
local age = began > 0 and string.format('%.6f', math.max(now - began, 0)) or ''

local other = redis.call('GET', KEYS[1])
other = other and other ~= holder

local needless = since > now + SLACK_S
if need == 'turn' then
  needless = needless or told >= since or (other and began >= since)
elseif need == 'confirm' then
  needless = needless or confirmed >= since
else
  needless = needless or began >= since
end
if needless then
  return { 0, 0, age }
end
if other then
  return { 0, math.max(redis.call('PTTL', KEYS[1]), 1), age }
end

-- From here on it only writes.

redis.call('SET', KEYS[1], holder, 'PX', lease_ms)
redis.call('HSET', KEYS[2], 'began', time[1] .. string.format('.%06d', time[2]))
redis.call('EXPIRE', KEYS[2], KEPT_S)
return { 1, 0, '' }
