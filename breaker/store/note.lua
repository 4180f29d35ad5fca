-- Notes decisions among the last ones, and counts claims of completion.
--
-- Each line begins with the moment, in seconds of this clock, and a blank.
--
-- KEYS   one hash tag: 1 last (list, newest first)  2 claims (hash): `claimed PROVIDER`, `prevented PROVIDER`
-- ARGV   1 how many are kept    2 seconds for which both are kept    then of each decision, oldest first: a line, the
--        provider that is claimed to have completed, empty for none, and 1 if that was prevented, else 0

local time = redis.call('TIME')
local at = string.format('%d.%06d ', time[1], time[2])
for i = 3, #ARGV, 3 do
  redis.call('LPUSH', KEYS[1], at .. ARGV[i])
  if ARGV[i + 1] ~= '' then
    redis.call('HINCRBY', KEYS[2], 'claimed ' .. ARGV[i + 1], 1)
    if ARGV[i + 2] == '1' then
      redis.call('HINCRBY', KEYS[2], 'prevented ' .. ARGV[i + 1], 1)
    end
    redis.call('EXPIRE', KEYS[2], ARGV[2])
  end
end
redis.call('LTRIM', KEYS[1], 0, ARGV[1] - 1)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
