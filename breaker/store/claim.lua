-- Takes or renews the claim of one holder, if nobody else has it.
--
-- KEYS   1 claim (string)
-- ARGV   1 the holder    2 milliseconds until it lapses by itself
-- Reply  1 if the holder has it now, 0 if another has

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
