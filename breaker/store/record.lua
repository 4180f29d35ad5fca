-- Counts one judged answer of one target, each part of an id once. Holds no policy.
--
-- KEYS   one hash tag: 1 circuit (hash)  2 probes (list)  3 reports (list)  4 ids (sorted set)  5 bins (list)
--        6 usual speed (string), only read here
-- ARGV   1 source: probe | report      2 part: late | final      3 kind: ok | failure | nothing | late
--        4 id, written as JSON         5 microseconds since the request began
--        6 the entry's other members, written as JSON without the opening brace
--        7 the epoch of a circuit that is made now
--        8 microseconds since it counted; 0 unless it has waited somewhere
-- Reply  { counted: 0 | 1, now: seconds as text, the circuit's fields, probes, reports, bins, usual } (oldest first)
--
-- A bin is "start kept ok failure nothing late": seconds since 1970, reports kept one by one, reports of each kind.
-- A report is counted in the bin of the moment at which it counted; what began before the last move, as nothing.
-- Where the circuit is lost but not its log, what counted before moves nothing: it may have moved the lost one.

local GARBAGE_S, DAY_S = 30 * 86400, 86400
local LENGTH = { probe = 32, report = 64 }
local IDS = 4096
local BIN_S, BINS = 10, 60
-- A report beyond so many kept in its bin is only counted there, unless the newest ROW kept ones are of mixed kinds:
-- so a flood pushes out nothing that a rule needs, and a change of kind is kept until a whole row of it stands.
local MODEST, ROW = 20, 16
local COLUMN = { ok = 3, failure = 4, nothing = 5, late = 6 }

local source, part, kind, id, age_us, members, epoch, ago_us = unpack(ARGV)
local list = source == 'probe' and KEYS[2] or KEYS[3]

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]

-- Lua writes numbers with 14 digits, which would lose the microseconds.
local function seconds(us)
  return string.format('%d.%06d', math.floor(us / 1000000), us % 1000000)
end

-- Quotation marks inside an id are escaped, so these patterns can't match there.
local function kind_of(entry)
  return string.match(entry, '"kind":"(%a+)"')
end

local function refresh(key)
  if redis.call('TTL', key) < GARBAGE_S - DAY_S then
    redis.call('EXPIRE', key, GARBAGE_S)
  end
end

local kept = { [KEYS[2]] = redis.call('LRANGE', KEYS[2], 0, -1), [KEYS[3]] = redis.call('LRANGE', KEYS[3], 0, -1) }
local entries = kept[list]
local start = '{"id":' .. id .. ',"at":'

local place
for i = #entries, 1, -1 do
  if string.sub(entries[i], 1, #start) == start then
    place = i
    break
  end
end

local late_known = redis.call('ZSCORE', KEYS[4], 'late ' .. id)
local final_known = redis.call('ZSCORE', KEYS[4], 'final ' .. id)
local known
if part == 'late' then
  known = late_known or final_known or place
else
  known = final_known or (place and kind_of(entries[place]) ~= 'late')
end

-- The last moment at which something counted; now at most, since the clock may have been set back.
local function newest()
  local at_us = 0
  for _, entries in pairs(kept) do
    for _, entry in ipairs(entries) do
      at_us = math.max(at_us, (tonumber(string.match(entry, '"at":([%d.]+)')) or 0) * 1000000)
    end
  end
  return seconds(math.min(math.ceil(at_us), now_us))
end

local circuit = read_circuit(KEYS[1])
local lost = not circuit
circuit = circuit or { epoch, '0', '', newest(), '', '', '0' }

-- What the answer becomes: the second part of an entry, a new entry, or a number in a bin.
local merges = not known and place
local bins = lost and {} or redis.call('LRANGE', KEYS[5], 0, -1)
local usual = redis.call('GET', KEYS[6])
local appends, bin, bin_place = false, nil, nil
if not known and not place and not late_known then
  appends = true
  if source == 'report' then
    local begins = string.format('%d', math.floor(math.max(now_us - tonumber(ago_us), 0) / 1000000 / BIN_S) * BIN_S)
    for i = #bins, 1, -1 do
      if string.sub(bins[i], 1, #begins + 1) == begins .. ' ' then
        bin_place = i
        break
      end
    end
    local passed = not bin_place and #bins > 0 and tonumber(string.match(bins[#bins], '^%d+')) > tonumber(begins)
    if not passed then -- else it waited for so long that its time has no bin
      bin = { string.match(bins[bin_place or 0] or begins .. ' 0 0 0 0 0', '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$') }
      local row = #entries >= ROW
      for i = #entries, math.max(#entries - ROW + 1, 1), -1 do
        row = row and kind_of(entries[i]) == kind
      end
      appends = tonumber(bin[2]) < MODEST or not row
      local moved_us = (tonumber(circuit[4]) or 0) * 1000000
      local column = now_us - tonumber(age_us) > moved_us and COLUMN[kind] or COLUMN.nothing
      bin[2] = bin[2] + (appends and 1 or 0)
      bin[column] = bin[column] + 1
      bins[bin_place or #bins + 1] = table.concat(bin, ' ')
    end
  end
end

if merges then
  local at, began = string.match(entries[place], '"at":([%d.]+),"began":([%d.]+)')
  entries[place] = start .. at .. ',"began":' .. began .. ',"late":true,"kind":"' .. kind .. '",' .. members
elseif appends then
  local began = seconds(math.max(now_us - tonumber(age_us), 0))
  local late = part == 'late' and 'true' or 'false'
  local at = seconds(math.max(now_us - tonumber(ago_us), 0))
  entries[#entries + 1] = start .. at .. ',"began":' .. began .. ',"late":' .. late
    .. ',"kind":"' .. kind .. '",' .. members
end

-- From here on it only writes.

if lost then
  for i = 1, #FIELDS do
    redis.call('HSET', KEYS[1], FIELDS[i], circuit[i])
  end
  redis.call('DEL', KEYS[5])
end
if not known then
  if merges then
    redis.call('LSET', list, place - 1, entries[place])
  elseif appends then
    redis.call('RPUSH', list, entries[#entries])
    redis.call('LTRIM', list, -LENGTH[source], -1)
  end
  if bin then
    if bin_place then
      redis.call('LSET', KEYS[5], bin_place - 1, bins[bin_place])
    else
      redis.call('RPUSH', KEYS[5], bins[#bins])
      redis.call('LTRIM', KEYS[5], -BINS, -1)
    end
    refresh(KEYS[5])
  end
  local last = redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')
  redis.call('ZADD', KEYS[4], (last[2] or 0) + 1, part .. ' ' .. id)
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -IDS - 1)
  refresh(list)
  refresh(KEYS[4])
end
refresh(KEYS[1])

if #entries > LENGTH[source] then
  table.remove(entries, 1)
end
return { known and 0 or 1, seconds(now_us), circuit, kept[KEYS[2]], kept[KEYS[3]], bins, usual }
