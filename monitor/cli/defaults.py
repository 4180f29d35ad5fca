"""What commands go by where their words don't say; the help names it."""

# How far back `backtest` looks.
SINCE = "7d"
# How many moves `why` shows besides the newest.
MOVES = 5
# Decisions about tasks that `firstbyte runs` shows.
RUNS = 20
