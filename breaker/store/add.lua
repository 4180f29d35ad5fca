-- Adds facts to a run, each once. Holds no policy.
--
-- KEYS   one hash tag: 1 facts (sorted set of lines)  2 about (hash): `began`, in seconds of this clock; `bytes` of all
--        lines; `overfull`, there once more came than is kept
--        The score of a fact is the microsecond of this clock at which it was added with those beside it: always a later
--        one than that of all before, so that what came after any of them can be told.
-- ARGV   1 seconds for which a run is kept after its last fact    2 the most facts of a run    3 their most bytes
--        4 1 if a run that isn't here may not begin, since the server is nearly full    5 and on: the facts, a line each
-- Reply  a digit for each fact: 1 it is new, 0 it was known, 2 it isn't kept

if ARGV[4] == '1' and redis.call('EXISTS', KEYS[2]) == 0 then
  return redis.error_reply('OOM no room for one more run')
end
local kept_s, most, most_bytes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local now = string.format('%.0f', math.max(time[1] * 1e6 + time[2], (tonumber(last[2]) or 0) + 1))
local many = redis.call('ZCARD', KEYS[1])
local bytes = tonumber(redis.call('HGET', KEYS[2], 'bytes') or '0')

local fresh, came, said, overfull = {}, {}, {}, false
for i = 5, #ARGV do
  local line = ARGV[i]
  if came[line] or redis.call('ZSCORE', KEYS[1], line) then
    said[#said + 1] = '0'
  elseif many + #fresh >= most or bytes + #line > most_bytes then
    said[#said + 1] = '2'
    overfull = true
  else
    said[#said + 1] = '1'
    came[line] = true
    fresh[#fresh + 1] = line
    bytes = bytes + #line
  end
end

-- From here on it only writes.

for _, line in ipairs(fresh) do
  redis.call('ZADD', KEYS[1], now, line)
end
redis.call('HSETNX', KEYS[2], 'began', time[1])
redis.call('HSET', KEYS[2], 'bytes', string.format('%d', bytes))
if overfull then
  redis.call('HSET', KEYS[2], 'overfull', '1')
end
redis.call('EXPIRE', KEYS[1], kept_s)
redis.call('EXPIRE', KEYS[2], kept_s)
return table.concat(said)
