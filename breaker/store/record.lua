-- Counts judged answers of one target in their order, each part of an id once. Holds no policy.
--
-- KEYS   one hash tag: 1 circuit (hash)  2 probes (list)  3 reports (list)  4 ids (sorted set)  5 bins (list)
--        6 usual speed (string), only read here  7 slots (hash)  8 samples (list): see history.lua
-- ARGV   1 the source of all: probe | report      2 the epoch of a circuit that is made now
--        3 a line for each answer, in parts that a tab parts:
--          "part kind rank began counted": late | final; ok | failure | nothing | late; its rank; microseconds since its
--          request began; microseconds since it counted, 0 unless it has waited somewhere
--          its id, written as JSON
--          the entry's other members, written as JSON without the opening brace; nothing for a good report of which
--          only the count is expected
--        4 the length of a slot, in seconds    5 how old the newest sample has to be before there is another, in
--        seconds; 0 for each answer, empty for none
-- Reply  an empty text, and nothing is written, where members have to be kept that weren't told; else one text, since a client reads one the quickest, in parts that a zero byte parts: counted, a digit for each
--        answer, 1 or 0; now, in seconds; probes, reports and bins, a line for each, oldest first; usual; "kept row",
--        the reports kept in the newest bin and how many good ones stand in a row; the circuit's fields
--
-- A bin is "start kept ok failure nothing late": seconds since 1970, reports kept one by one, reports of each kind.
-- A report is counted in the bin of the moment at which it counted; what began before the last move, as nothing.
-- Where the circuit is lost but not its log, what counted before moves nothing: it may have moved the lost one.

local GARBAGE_S, DAY_S = 30 * 86400, 86400
local LENGTH = { probe = 32, report = 64 }
local IDS = 4096
-- How long a call was under way is in no age. So answers that counted within this of each other are put in the order in
-- which they came.
local TOGETHER_US = 1000000
local BIN_S, BINS = 10, 60
-- A report beyond so many kept in its bin is only counted there, unless the newest ROW kept ones are of mixed kinds:
-- so a flood pushes out nothing that a rule needs, and a change of kind is kept until a whole row of it stands.
local MODEST, ROW = 20, 16
local BIN = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$'
local COLUMN = { ok = 3, failure = 4, nothing = 5, late = 6 }

local source, epoch = ARGV[1], ARGV[2]
local slot_s, sample_s = tonumber(ARGV[4]), tonumber(ARGV[5])
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

local function at_of(entry)
  return (tonumber(string.match(entry or '', '"at":([%d.]+)')) or 0) * 1000000
end

local function refresh(key)
  if redis.call('TTL', key) < GARBAGE_S - DAY_S then
    redis.call('EXPIRE', key, GARBAGE_S)
  end
end

local kept = { [KEYS[2]] = redis.call('LRANGE', KEYS[2], 0, -1), [KEYS[3]] = redis.call('LRANGE', KEYS[3], 0, -1) }
local entries = kept[list]
local stored = #entries
local last = redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')
local usual = redis.call('GET', KEYS[6])

-- The last moment at which something counted; now at most, since the clock may have been set back.
local function newest()
  local at_us = 0
  for _, lines in pairs(kept) do
    for _, entry in ipairs(lines) do
      at_us = math.max(at_us, at_of(entry))
    end
  end
  return seconds(math.min(math.ceil(at_us), now_us))
end

local circuit = read_circuit(KEYS[1])
local lost = not circuit
circuit = circuit or { epoch, '0', '', newest(), '', '', '0' }
local moved_us = (tonumber(circuit[4]) or 0) * 1000000
-- As it was before these came; a hold by hand lies over all else.
local out = string.find(circuit[6], '"opened":true', 1, true) or (circuit[6] == '' and circuit[5] ~= '')
local bins = lost and {} or redis.call('LRANGE', KEYS[5], 0, -1)
local stored_bins = #bins

local places = {} -- of entries, by their ids
for place, entry in ipairs(entries) do
  places[string.match(entry, '^{"id":(.-),"at":') or ''] = place
end

local came = {} -- the parts of ids that count in this call
local function has_come(part, id)
  return came[part .. ' ' .. id] or redis.call('ZSCORE', KEYS[4], part .. ' ' .. id)
end

local function is_known(part, id, place)
  if part == 'late' then
    return has_come('late', id) or has_come('final', id) or place
  end
  return has_come('final', id) or (place and kind_of(entries[place]) ~= 'late')
end

-- Of which kind the newest entries are, and how many in a row; ROW at most.
local row_kind, row
local function measure_row()
  row_kind, row = kind_of(entries[#entries] or ''), 0
  for i = #entries, math.max(#entries - ROW + 1, 1), -1 do
    if kind_of(entries[i]) ~= row_kind then
      break
    end
    row = row + 1
  end
end
measure_row()

local counting = {} -- the bins that change, as numbers, by the text of their start
local inserted = false -- whether a bin has come before others that are stored
local function start_of(bin)
  return tonumber(string.match(bin, '^%d+')) or 0
end
local function insert(place, begins)
  inserted = inserted or place <= #bins
  for _, bin in pairs(counting) do
    bin.place = bin.place + (bin.place >= place and 1 or 0)
  end
  table.insert(bins, place, begins .. ' 0 0 0 0 0')
end
local function bin_of(begins)
  if counting[begins] then
    return counting[begins]
  end
  local place, start = #bins, tonumber(begins)
  while place > 0 and start_of(bins[place]) > start do
    place = place - 1
  end
  if place == 0 and #bins >= BINS then
    return nil -- what comes now has waited for so long that its time has no bin any more
  end
  local bin = { string.match(bins[place] or '', BIN) }
  if bin[1] ~= begins then -- it isn't there yet, or is another version's, which stays beside ours
    place = place + 1
    insert(place, begins)
    bin = { begins, 0, 0, 0, 0, 0 }
  end
  bin.place = place
  counting[begins] = bin
  return bin
end

-- Counts a report; gives whether it is kept as an entry, too.
local function count(kind, age_us, ago_us)
  local bin = bin_of(string.format('%d', math.floor(math.max(now_us - ago_us, 0) / 1000000 / BIN_S) * BIN_S))
  if not bin then
    return true
  end
  local keep = tonumber(bin[2]) < MODEST or row < ROW or row_kind ~= kind
  local column = now_us - age_us > moved_us and COLUMN[kind] or COLUMN.nothing
  bin[2] = bin[2] + (keep and 1 or 0)
  bin[column] = bin[column] + 1
  return keep
end

local merged = {} -- the places of stored entries that have got their second part
local function merge(place, id, kind, members)
  local at, began = string.match(entries[place], '"at":([%d.]+),"began":([%d.]+)')
  entries[place] = '{"id":' .. id .. ',"at":' .. at .. ',"began":' .. began .. ',"late":true,"kind":"' .. kind
    .. '",' .. members
  merged[place] = place <= stored or nil
  missing = missing or members == ''
  measure_row()
end

local last_us = math.floor(at_of(entries[#entries]) + 0.5)
local function append(part, id, kind, age_us, ago_us, members)
  local began_us, at_us = math.max(now_us - age_us, 0), math.max(now_us - ago_us, 0)
  if last_us >= at_us and last_us - at_us < TOGETHER_US then
    at_us = last_us + 1
  end
  last_us = at_us
  entries[#entries + 1] = '{"id":' .. id .. ',"at":' .. seconds(at_us) .. ',"began":' .. seconds(began_us)
    .. ',"late":' .. (part == 'late' and 'true' or 'false') .. ',"kind":"' .. kind .. '",' .. members
  places[id] = #entries
  row = kind == row_kind and math.min(row + 1, ROW) or 1
  row_kind = kind
  missing = missing or members == ''
end

local LINE = '(%a+) (%a+) (%d) (%d+) (%d+)\t([^\t]+)\t([^\n]*)\n'
local counted, ids = {}, {}
for part, kind, rank, age_us, ago_us, id, members in string.gmatch(ARGV[3], LINE) do
  rank = tonumber(rank)
  local place = places[id]
  local known = is_known(part, id, place)
  counted[#counted + 1] = known and '0' or '1'
  if not known then
    if place then
      merge(place, id, kind, members)
    elseif not has_come('late', id) then
      local slot = slot_at(KEYS[7], math.max(now_us - ago_us, 0), slot_s)
      count_in(slot, source, rank, members, out)
      if source == 'probe' or count(kind, tonumber(age_us), tonumber(ago_us)) then
        append(part, id, kind, tonumber(age_us), tonumber(ago_us), members)
      end
    end
    if part == 'final' and sample_s then
      sample(KEYS[8], math.max(now_us - ago_us, 0), members, rank, sample_s)
    end
    came[part .. ' ' .. id] = true
    ids[#ids + 1] = (last[2] or 0) + #ids / 2 + 1
    ids[#ids + 1] = part .. ' ' .. id
  end
end

if missing then
  return ''
end

-- From here on it only writes.

if lost then
  for i = 1, #FIELDS do
    redis.call('HSET', KEYS[1], FIELDS[i], circuit[i])
  end
  redis.call('DEL', KEYS[5])
end
for place in pairs(merged) do
  redis.call('LSET', list, place - 1, entries[place])
end
if #entries > stored then
  redis.call('RPUSH', list, unpack(entries, stored + 1))
  redis.call('LTRIM', list, -LENGTH[source], -1)
end
for _, bin in pairs(counting) do
  bins[bin.place] = table.concat(bin, ' ')
  if bin.place <= stored_bins and not inserted then
    redis.call('LSET', KEYS[5], bin.place - 1, bins[bin.place])
  end
end
if inserted then
  redis.call('DEL', KEYS[5])
  redis.call('RPUSH', KEYS[5], unpack(bins, math.max(#bins - BINS + 1, 1)))
elseif #bins > stored_bins then
  redis.call('RPUSH', KEYS[5], unpack(bins, stored_bins + 1))
  redis.call('LTRIM', KEYS[5], -BINS, -1)
end
if next(counting) then
  refresh(KEYS[5])
end
if #ids > 0 then
  redis.call('ZADD', KEYS[4], unpack(ids))
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -IDS - 1)
  refresh(list)
  refresh(KEYS[4])
end
write_history(KEYS[7], KEYS[8], refresh)
refresh(KEYS[1])

local function lines(all, most)
  return table.concat(all, '\n', math.max(#all - most + 1, 1))
end

local newest_kept = string.match(bins[#bins] or '', '^%d+ (%d+)') or 0

return joined({
  table.concat(counted), seconds(now_us), lines(kept[KEYS[2]], LENGTH.probe), lines(kept[KEYS[3]], LENGTH.report),
  lines(bins, BINS), usual or '', newest_kept .. ' ' .. (row_kind == 'ok' and row or 0), unpack(circuit),
})
