-- Tells all that is kept of a run. Writes nothing.
--
-- KEYS   one hash tag: 1 facts (set of lines)  2 about (hash), as in add.lua and conclude.lua
-- ARGV   1 the stamp of what the caller knows of it, empty for nothing
-- Reply  one text, since a client reads one the quickest, in parts that a zero byte parts: a stamp, which is another as
--        soon as anything of the run is; then, unless that is the caller's, `began`, `overfull`, `decided` and `claimed`,
--        each empty where it isn't there, and the facts, a line each

local parts = redis.call('HMGET', KEYS[2], 'began', 'overfull', 'decided', 'claimed')
for i = 1, 4 do
  parts[i] = parts[i] or ''
end
-- Facts are only ever added; but a server that takes over may lack the last ones, and then gets as many others.
local changed = redis.call('HGET', KEYS[2], 'changed') or ''
local stamp = table.concat({ parts[1], parts[2], changed, redis.call('SCARD', KEYS[1]) }, ' ')
if stamp == ARGV[1] then
  return stamp
end
parts[5] = table.concat(redis.call('SMEMBERS', KEYS[1]), '\n')
table.insert(parts, 1, stamp)
return table.concat(parts, '\0')
