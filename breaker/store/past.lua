-- Reads what history.lua has kept of a target.
--
-- KEYS   one hash tag: 1 slots (hash)  2 samples (list)
-- Reply  one text, since a client reads one the quickest, in parts that a zero byte parts: slots, a line for each, its
--        start before all else; samples, a line for each, oldest first

local found, lines = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #found, 2 do
  lines[#lines + 1] = found[i] .. ' ' .. found[i + 1]
end
return joined({ table.concat(lines, '\n'), table.concat(redis.call('LRANGE', KEYS[2], 0, -1), '\n') })
