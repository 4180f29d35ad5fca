-- Makes one text of some, for the scripts that this stands before: zero bytes part them, and stand nowhere else.

local function joined(parts)
  for i, part in ipairs(parts) do
    if string.find(part, '\0', 1, true) then -- nothing of ours
      parts[i] = string.gsub(part, '%z', '?')
    end
  end
  return table.concat(parts, '\0')
end
