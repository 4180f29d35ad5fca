-- Notes what was decided of a run, so that each decision and each claim of completion is counted once.
--
-- KEYS   one hash tag: 1 about (hash), as in add.lua: `decided` the last decision, `claimed` the step last claimed
-- ARGV   1 the decision    2 the step that was taken for the end, empty for none
-- Reply  { 1 if the decision is another than before, 1 if the step wasn't claimed before }

if redis.call('EXISTS', KEYS[1]) == 0 then
  return { 0, 0 }
end
local found = redis.call('HMGET', KEYS[1], 'decided', 'claimed')
local decided = found[1] ~= ARGV[1] and 1 or 0
local claimed = ARGV[2] ~= '' and found[2] ~= ARGV[2] and 1 or 0
if decided == 1 then
  redis.call('HSET', KEYS[1], 'decided', ARGV[1])
end
if claimed == 1 then
  redis.call('HSET', KEYS[1], 'claimed', ARGV[2])
end
return { decided, claimed }
