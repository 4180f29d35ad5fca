"""What the counts of an answer say: whether its prompt was read, and whose limit ended it."""

from breaker.answer import Answer

# Fewer prompt bytes than this say nothing about how many tokens were read.
MIN_JUDGED_PROMPT_BYTES = 4_000
# No language has more bytes a token than 9.4 (measured with eight tokenizers); see docs/decisions/prompt-tokens.md.
MAX_BYTES_PER_TOKEN = 10
# Twice that means that half went unread, whatever the text was.
UNREAD_BYTES_PER_TOKEN = 20
# Most text has fewer; more is no proof of anything, but fits other signs.
USUAL_BYTES_PER_TOKEN = 6.5
# A window that was too small shows in the count: a power of two when it is full, or half of it and a little, as
# hosts leave it that cut what they were sent (seen: 2050, 2051, 32770).
_WINDOWS = tuple(2**power for power in range(10, 19))
CUT_COUNTS = frozenset(window + more for window in _WINDOWS for more in range(4))
# Who counts differently by a few tokens has still reached the limit.
NEAR_LIMIT = 0.95
_NEARLY_FULL = 0.75


def bytes_per_token(a: Answer) -> float | None:
    """How many bytes of the prompt went into a counted token; None where there is nothing to go by."""
    # 0 and 1 are what gateways write that don't count at all.
    if not a.prompt_bytes or a.prompt_bytes < MIN_JUDGED_PROMPT_BYTES or a.prompt_tokens is None or a.prompt_tokens < 2:
        return None
    return a.prompt_bytes / a.prompt_tokens


def is_uncounted(a: Answer) -> bool:
    """Whether nothing was counted, which gateways don't do for their own words; some write 1 for nothing."""
    return (a.prompt_tokens or 0) <= 1 and (a.completion_tokens or 0) <= 1


def shows_cut(a: Answer) -> bool:
    """Whether the prompt's count, or the whole count, is one that a window leaves that was too small."""
    return a.prompt_tokens in CUT_COUNTS or fills_window(a)


def at_own_limit(a: Answer) -> bool | None:
    """Whether the caller's own limit was reached; None if that isn't known."""
    if a.max_tokens is None or a.completion_tokens is None:
        return None
    return a.completion_tokens >= a.max_tokens * NEAR_LIMIT


def fills_window(a: Answer) -> bool:
    """Whether prompt and answer together fill a window of a round size."""
    total = (a.prompt_tokens or 0) + (a.completion_tokens or 0)
    return total >= 2 * _WINDOWS[0] and total & (total - 1) == 0


def leaves_no_room(a: Answer) -> bool:
    """Whether a prompt nearly fills a window of a round size, the caller's limit overfills it, and nothing was made."""
    if a.completion_tokens != 0 or a.first_byte_s is not None or not a.prompt_tokens or not a.max_tokens:
        return False
    return any(
        window * _NEARLY_FULL <= a.prompt_tokens <= window < a.prompt_tokens + a.max_tokens for window in _WINDOWS
    )
