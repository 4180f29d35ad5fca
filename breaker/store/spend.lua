-- Adds to what a provider has cost on a day.
--
-- KEYS   1 the day's spend (hash)
-- ARGV   1 tokens    2 US dollars    3 seconds for which the day is kept
-- Reply  { the day's tokens, the day's US dollars as text }

local tokens = redis.call('HINCRBY', KEYS[1], 'tokens', ARGV[1])
local usd = redis.call('HINCRBYFLOAT', KEYS[1], 'usd', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return { tokens, usd }
