"""Statuses of a task (specification.md#wire-profiles)."""

from __future__ import annotations

SYNONYMS = {
    "COMPLETE": "completed",
    "CANCELLED": "cancelled",
    "ACTIVE": "running",
    "PENDING": "pending",
    "PAUSED": "paused",
    **dict.fromkeys(("ERROR", "FAILED", "TIMEOUT", "MAX_ITERATIONS_REACHED", "OUT_OF_TOKENS"), "failed"),
}
"""For each status of the Codegen API the word of the samples in its documentation."""


class TaskStatus(str):
    """A status as the service sent it, which also equals the word that the samples of the Codegen SDK compare it with.

    The documented samples test `task.status == "completed"`, but the API sends `COMPLETE`, so that they never ended. In sets and as a key only
    the word of the API counts.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or (isinstance(other, str) and SYNONYMS.get(str(self)) == str(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
