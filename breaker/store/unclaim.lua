-- Gives a claim back, if this holder still has it, and notes what its probe was good for.
--
-- KEYS   one hash tag: 1 claim (string)  2 probed (hash), see take.lua
-- ARGV   1 the holder    2 what for: turn | confirm | pace; empty if nothing was told
--        3 seconds since 1970 up to which it covers turns

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return
end
local time = redis.call('TIME')
local now = time[1] .. string.format('.%06d', time[2])
local began = ARGV[2] == 'confirm' and redis.call('HGET', KEYS[2], 'began') or now

-- From here on it only writes.

redis.call('DEL', KEYS[1])
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[2], 'told', tonumber(ARGV[3]) > tonumber(now) and ARGV[3] or now)
  if ARGV[2] == 'confirm' then
    redis.call('HSET', KEYS[2], 'confirmed', began)
  end
  redis.call('EXPIRE', KEYS[2], 2 * 86400)
end
