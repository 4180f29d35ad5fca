-- Files a message that is to be sent once, unless it was filed before or too many wait.
--
-- KEYS   one hash tag: 1 pending (hash: id -> message)  2 seen (string, of this id)
-- ARGV   1 the id    2 the message    3 how many may wait    4 seconds for which the id is known
-- Reply  1 if it was filed, 0 if it was before, -1 if too many wait

if redis.call('EXISTS', KEYS[2]) == 1 then
  return 0
end
local full = redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3])

-- From here on it only writes.

redis.call('SET', KEYS[2], 1, 'EX', ARGV[4])
if full then
  return -1
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], 86400)
return 1
