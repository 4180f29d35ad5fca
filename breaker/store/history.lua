-- Counts answers in slots of time and keeps first bytes, for the script that this stands before. Knows no policy.
--
-- A slot is a field of a hash, named by the second at which it begins: "length out rank verdict" and then a number for
-- each rank, first of probes and then of reports. Its length is in seconds, `out` is how many came while the circuit
-- was out, rank the highest that came, verdict the newest of that rank (of good ones the first). A sample is
-- "at first_byte rank", oldest first, "-" where no first byte came. history.py says what ranks and slots mean.

local SLOTS, SAMPLES, RANKS = 90, 256, 6
local SLOT = '^(%d+) (%d+) (%d) (%S+)' .. string.rep(' (%d+)', 2 * RANKS) .. '$'
local PLACE = { probe = 4, report = 4 + RANKS } -- behind this the counts of a source begin

local missing = false -- whether something has to be kept that wasn't told
local slots = {} -- those that change, by the second at which they begin
local samples = {} -- those that are new

local function slot_at(key, at_us, length_s)
  local start = math.floor(at_us / 1000000 / length_s) * length_s
  if slots[start] then
    return slots[start]
  end
  local slot = { string.match(redis.call('HGET', key, string.format('%d', start)) or '', SLOT) }
  if not slot[1] then -- it isn't there yet, or is another version's
    slot = { length_s, 0, -1, '' }
    for place = 5, 4 + 2 * RANKS do
      slot[place] = 0
    end
    slot.new = true
  end
  slots[start] = slot
  return slot
end

local function count_in(slot, source, rank, members, out)
  local place = PLACE[source] + rank + 1
  slot[place] = slot[place] + 1
  slot[2] = slot[2] + (out and 1 or 0)
  local worst = tonumber(slot[3])
  if rank > worst or (rank == worst and rank > 0) then -- among good ones any will do
    slot[3], slot[4] = rank, string.match(members, '^"verdict":"([%a_]+)"') or '-'
    missing = missing or members == ''
  end
end

-- The newest moment of all samples, as far as one is wanted.
local function newest_sample(key)
  local text = samples[#samples] or redis.call('LINDEX', key, -1) or ''
  return tonumber(string.match(text, '^[%d.]+') or '') or 0
end

local function sample(key, at_us, members, rank, every_s)
  local at_s = at_us / 1000000
  if every_s == 0 or at_s - newest_sample(key) >= every_s or at_s < newest_sample(key) - every_s then
    local first_byte = string.match(members, '"first_byte_s":([%d.e+-]+)') or '-'
    samples[#samples + 1] = string.format('%.3f %s %d', at_s, first_byte, rank)
    missing = missing or members == ''
  end
end

-- From here on it only writes, once everything has been read.

local function drop_old_slots(key)
  local starts = redis.call('HKEYS', key)
  table.sort(starts, function(a, b)
    return (tonumber(a) or 0) < (tonumber(b) or 0)
  end)
  for i = 1, #starts - SLOTS do
    redis.call('HDEL', key, starts[i])
  end
end

local function write_history(slots_key, samples_key, refresh)
  local grown = false
  for start, slot in pairs(slots) do
    redis.call('HSET', slots_key, string.format('%d', start), table.concat(slot, ' '))
    grown = grown or slot.new
  end
  if grown then
    drop_old_slots(slots_key)
    refresh(slots_key)
  end
  if #samples > 0 then
    redis.call('RPUSH', samples_key, unpack(samples))
    redis.call('LTRIM', samples_key, -SAMPLES, -1)
    refresh(samples_key)
  end
end
