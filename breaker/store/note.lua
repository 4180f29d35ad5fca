-- Notes a decision among the last ones, and counts claims of completion.
--
-- Each line begins with the moment, in seconds of this clock, and a blank.
--
-- KEYS   one hash tag: 1 last (list, newest first)  2 claims (hash): `claimed PROVIDER`, `prevented PROVIDER`
-- ARGV   1 the decision, a line    2 how many are kept    3 seconds for which both are kept
--        4 the provider that is claimed to have completed, empty for none    5 1 if that was prevented, else 0

local time = redis.call('TIME')
redis.call('LPUSH', KEYS[1], string.format('%d.%06d ', time[1], time[2]) .. ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[2] - 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
if ARGV[4] ~= '' then
  redis.call('HINCRBY', KEYS[2], 'claimed ' .. ARGV[4], 1)
  if ARGV[5] == '1' then
    redis.call('HINCRBY', KEYS[2], 'prevented ' .. ARGV[4], 1)
  end
  redis.call('EXPIRE', KEYS[2], ARGV[3])
end
return 1
