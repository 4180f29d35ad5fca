-- Reads a circuit's fields, for the scripts that this stands before. What is damaged here is damaged in codec.py too.

local FIELDS = { 'epoch', 'generation', 'cause', 'moved_at', 'open_until', 'held', 'hold_s' }

-- Beyond this nothing is a time.
local MOST = 1e12

local function bounded(value)
  return type(value) == 'number' and math.abs(value) < MOST -- false for what is no number, too
end

local function number(text)
  return string.match(text, '^%-?%d[%d.e+-]*$') and bounded(tonumber(text))
end

local function hold(text)
  local read, held = pcall(cjson.decode, text)
  return read and type(held) == 'table' and type(held.opened) == 'boolean' and type(held.who) == 'string'
    and type(held.why) == 'string' and bounded(held.since) and bounded(held['until'])
end

local function count(text)
  return #text <= 15 and (text == '0' or string.match(text, '^[1-9]%d*$'))
end

-- The fields in their order; nil where one is missing or damaged: then the circuit is lost.
local function read_circuit(key)
  local found = redis.call('HMGET', key, unpack(FIELDS))
  for i = 1, #FIELDS do
    if not found[i] then
      return nil
    end
  end
  local epoch, generation, _, moved_at, open_until, held, hold_s = unpack(found)
  local whole = epoch ~= '' and count(generation) and number(moved_at) and number(hold_s)
    and (open_until == '' or number(open_until)) and (held == '' or hold(held))
  return whole and found or nil
end
