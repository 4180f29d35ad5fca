-- Gives a claim back, if this holder still has it, and notes what its probe was good for.
--
-- KEYS   one hash tag: 1 claim (string)  2 probed (hash), see take.lua
-- ARGV   1 the holder    2 what for: turn | confirm | pace; empty if nothing was told
--        3 seconds since 1970 up to which it covers turns
--
-- Where the claim has lapsed meanwhile, a probe that told something was still good for its own turn, and no later one.

local ours = redis.call('GET', KEYS[1]) == ARGV[1]
local told = ARGV[2] ~= ''
local up_to = tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] .. string.format('.%06d', time[2])
local began, before = unpack(redis.call('HMGET', KEYS[2], 'began', 'told'))

-- From here on it only writes.

if ours then
  redis.call('DEL', KEYS[1])
end
if told and ours then
  redis.call('HSET', KEYS[2], 'told', up_to > tonumber(now) and ARGV[3] or now)
elseif told and up_to > (tonumber(before or '') or 0) then
  redis.call('HSET', KEYS[2], 'told', ARGV[3])
end
if told and ours and ARGV[2] == 'confirm' then
  redis.call('HSET', KEYS[2], 'confirmed', began or now)
end
if told then
  redis.call('EXPIRE', KEYS[2], 2 * 86400)
end
