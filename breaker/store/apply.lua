-- Makes a move of one circuit if it is still the one that was judged, notes it in the ledger and announces it.
--
-- KEYS   one hash tag: 1 circuit (hash)  2 moves (list, newest first)
-- ARGV   1 the judged epoch, empty for a circuit that wasn't there, or was damaged    2 the judged generation
--        3 seconds that both keys may lie untouched before they are garbage
--        4 the move, written as JSON    5 the channel    6 the announcement, written as JSON
--        7 and on: the circuit's fields, each name with its value
-- Reply  1 if the move was made, 0 if another was faster

local LEDGER = 200 -- contract.py says the same

local found = read_circuit(KEYS[1]) or { '', '0' }
if found[1] ~= ARGV[1] or found[2] ~= ARGV[2] then
  return 0
end
redis.call('LLEN', KEYS[2]) -- what isn't a list stops it here

-- From here on it only writes.

redis.call('HSET', KEYS[1], unpack(ARGV, 7))
redis.call('LPUSH', KEYS[2], ARGV[4])
redis.call('LTRIM', KEYS[2], 0, LEDGER - 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 1
