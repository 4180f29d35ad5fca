-- Tells what is kept of a run: the facts that came after what the caller knows, or all of them. Writes nothing.
--
-- KEYS   one hash tag: 1 facts (sorted set of lines)  2 about (hash), as in add.lua and conclude.lua
-- ARGV   1 the stamp of what the caller knows of it, empty for nothing
-- Reply  one text, since a client reads one the quickest, in parts that a zero byte parts: a stamp, which is another as
--        soon as anything of the run is; 1 if all facts follow, empty if only news do; `began`, `overfull`, `decided` and
--        `claimed`, each empty where it isn't there; the facts, a line each

local parts = redis.call('HMGET', KEYS[2], 'began', 'overfull', 'decided', 'claimed')
for i = 1, 4 do
  parts[i] = parts[i] or ''
end
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local stamp = table.concat({ parts[1], redis.call('ZCARD', KEYS[1]), last[2] or '', parts[2] }, ' ')

local whole, facts = '', {}
if stamp ~= ARGV[1] then
  -- A server that takes over may lack the last facts and have others since; what is known is still true only if what
  -- was known last is here, and as much before it.
  local began, many, at = string.match(ARGV[1], '^(%S*) (%d+) (%S+) ')
  local same = began == parts[1] and redis.call('ZCOUNT', KEYS[1], at, at) > 0
  if same and redis.call('ZCOUNT', KEYS[1], '-inf', at) == tonumber(many) then
    facts = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. at, '+inf')
  else
    whole, facts = '1', redis.call('ZRANGE', KEYS[1], 0, -1)
  end
end
return table.concat({ stamp, whole, parts[1], parts[2], parts[3], parts[4], table.concat(facts, '\n') }, '\0')
