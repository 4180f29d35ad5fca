"""Writes docs/logs.md from the events and keys that there are: `python -m monitor.logs.table >docs/logs.md`."""

import sys

from breaker.logged import EVENTS, KEYS
from monitor.logs.flood import MOST, WITHIN_S

_HEAD = f"""\
# The log

The service writes its log to stderr. On a terminal it is for people; `log: {{form: logfmt}}` or `log: {{form: json}}` in the configuration,
or `FIRSTBYTE_LOG=json`, makes one line an event for programs:

```text
ts=2026-11-30T12:00:07.412Z level=info event=circuit_moved msg="circuit of a/m: closed -> open: 2 slow" target=a/m before=closed after=open cause=slow
```

`log: {{level: debug}}` tells of each probe too, `warning` only of what is wrong. No line holds a prompt, a reply, a key, a token or
an address with a password. Line ends and other characters that steer a terminal are escaped; of an error of our own a structured
line tells the kind and the place, not the words.

Of lines with the same event, level and target or provider {MOST} pass in {WITHIN_S:g} seconds; the next one after others were held back says how many.
`firstbyte_log_lines_total` counts all of them. Nothing waits for whoever reads the log: while a pipe isn't read, a terminal is stopped or a disk is
full, a megabyte of lines waits, more are dropped and counted (`firstbyte_log_lines_dropped_total`), and `log_lost` says how many once the log is written again.
A trouble of the store that several parts of the service meet is told once a minute at most, by each event.

## Keys of every line

| key | meaning |
| --- | --- |
| `ts` | when, UTC, to the millisecond |
| `level` | `debug`, `info`, `warning` or `error` |
| `event` | one of the events below |
| `msg` | a sentence for people; it may change with any version |
| `error` | the kind of an error of our own, and the line that it comes from |
| `held_back` | how many lines like this were held back before it |
| `logger` | which module said it; with `message` alone |

## Keys of some events

| key | meaning |
| --- | --- |
"""


def table() -> str:
    """The page, in Markdown."""
    keys = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in KEYS.items())
    head = "\n## Events\n\n| event | meaning | keys |\n| --- | --- | --- |\n"
    rows = (f"| `{e.name}` | {e.meaning} | {', '.join(f'`{key}`' for key in e.keys)} |\n" for e in EVENTS)
    return f"{_HEAD}{keys}{head}{''.join(rows)}"


if __name__ == "__main__":
    sys.stdout.write(table())
