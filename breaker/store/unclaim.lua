-- Gives a claim back, if this holder still has it.
--
-- KEYS   1 claim (string)
-- ARGV   1 the holder

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
