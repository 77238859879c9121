"""Server-sent events: parsing, and the position in a stream (specification.md#events)."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from typing import Any

from agentrun.errors import AgentRunError
from agentrun.retrying import back_off

SILENCE_SECONDS = 25.0
"""The service sends something every 10 s: a stream that is silent for longer is closed and resumed."""
RECONNECTS = 20
"""How many connections in a row may fail after the first one succeeded."""


@dataclass(frozen=True)
class ServerEvent:
    """`seq` is its position in the stream, None for an ephemeral event. A heartbeat has the name `heartbeat` and no data."""

    seq: int | None
    event: str
    data: Any


HEARTBEAT = ServerEvent(None, "heartbeat", None)


class EventParser:
    """Turns the bytes of one connection into events, however they are cut. An event that was not ended is not reported."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._fields: dict[str, str] = {}

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Returns the events that are complete now. Raises AgentRunError for data that is not JSON."""
        # A carriage return at the end may be half of a line's end.
        text = self._rest + self._decoder.decode(chunk)
        held = text.endswith("\r")
        lines = (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop() + ("\r" if held else "")
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: str) -> ServerEvent | None:
        if line.startswith(":"):
            return HEARTBEAT
        if line != "":
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            before = self._fields.get("data")
            self._fields[name] = f"{before}\n{value}" if name == "data" and before is not None else value
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        seq = fields.get("id", "")
        try:
            return ServerEvent(int(seq) if seq else None, fields.get("event", "message"), json.loads(fields["data"]))
        except ValueError as cause:
            raise AgentRunError("An event of the stream is not JSON: is it the service?", status=200) from cause


class Position:
    """The last event that was reported: each one comes once, in order, without a gap."""

    def __init__(self, after: int | None, *, dense: bool) -> None:
        self.last = after
        self._dense = dense

    def is_new(self, event: ServerEvent) -> bool:
        """Returns whether the event must be reported. Raises Gap when one before it is missing, so that the connection is opened again."""
        if event.seq is None:
            return True
        if self.last is not None:
            if event.seq <= self.last:
                return False
            if self._dense and event.seq != self.last + 1:
                raise Gap
        self.last = event.seq
        return True


class Gap(Exception):
    """A connection left out an event."""


def reconnect_delay(error: AgentRunError, failures: int) -> float | None:
    """Seconds before the next connection of a stream that was open before; None when a later one cannot succeed."""
    if failures > RECONNECTS or error.code == "stream_blocked" or error.status not in (0, 429, 502, 503, 504):
        return None
    return max(error.retry_after or 0.0, back_off(failures))


def blocked(url: str) -> AgentRunError:
    return AgentRunError(f"The stream at {url} opens but sends nothing: a proxy may buffer it.", code="stream_blocked")
