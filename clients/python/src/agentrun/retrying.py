"""When a request is repeated, and how long the client waits before it (specification.md#rate-limits)."""

from __future__ import annotations

import random
import re
import time
from email.utils import parsedate_to_datetime

from agentrun.errors import AgentRunError

FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 8.0
TEMPORARY_STATUSES = (0, 502, 503, 504)


def retry_after(value: str | None) -> float | None:
    """Parses `Retry-After`, given as whole seconds or as an HTTP date, to seconds; None when it is neither."""
    if value is None:
        return None
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def back_off(failures: int) -> float:
    """Seconds before the next attempt: doubling up to 8, of which a random half is left out so that clients do not return together."""
    delay = min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** (failures - 1))
    return delay * (0.5 + random.random() / 2)


def wait_after(error: AgentRunError, failures: int, *, repeatable: bool) -> float | None:
    """Seconds to wait before the next attempt; None if there must be no other attempt.

    A 429 is always repeated, because a refused request did nothing. Other temporary failures are repeated only when the request may arrive
    twice. A 409 with a time: the first attempt is still running.
    """
    temporary = error.status in TEMPORARY_STATUSES and error.code != "organization_needed"
    running = error.status == 409 and error.retry_after is not None
    if error.status != 429 and not ((temporary or running) and repeatable):
        return None
    return back_off(failures) if error.retry_after is None else error.retry_after
