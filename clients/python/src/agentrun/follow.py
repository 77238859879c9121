"""What a stream of a run reports, and when a run does nothing more by itself (specification.md#events)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentrun.call import Call, whole_body
from agentrun.models.agents import AgentRun, AgentRunLogEntry
from agentrun.sse import ServerEvent

PEOPLE = ("user_input", "tool_approval")
POLL_SECONDS = 2.0
"""A client that polls sends no more than one request in this time."""


@dataclass(frozen=True)
class LogEvent:
    """An entry of the trace: each one once, in order, without a gap."""

    seq: int
    entry: AgentRunLogEntry


@dataclass(frozen=True)
class RunEvent:
    """The run after each change, and after each reconnection."""

    run: AgentRun


@dataclass(frozen=True)
class TransientEvent:
    """A tool starts (`tool`), a piece of its output (`output`) or of the model's text (`text`), a limit is near (`notice`), or a kind that this
    version does not know. Lost while there is no connection."""

    type: str
    data: Any


@dataclass(frozen=True)
class OrganizationEvent:
    """What happened to one run of the organization; `run` is None when it was deleted."""

    seq: int
    type: str
    agent_run_id: int
    run: AgentRun | None


FollowEvent: TypeAlias = LogEvent | RunEvent | TransientEvent
Until: TypeAlias = Literal["end", "rest"] | Callable[[AgentRun], bool]
"""When following ends: once the run has ended, once it is at rest, or once a function of the run returns true."""


def waits_for_person(run: AgentRun) -> bool:
    return run.to_json().get("waiting_on") in PEOPLE


def is_at_rest(run: AgentRun) -> bool:
    """Returns whether a run does nothing more by itself: it has ended, is paused, or waits for a person."""
    return bool(run.terminal) or run.status.lower() == "paused" or waits_for_person(run)


def has_succeeded(run: AgentRun) -> bool:
    """Returns whether a run is completed and did everything that was requested: `status_reason` names what it did not do."""
    return run.status.lower().startswith("complete") and run.to_json().get("status_reason") is None


def has_ended(run: AgentRun) -> bool:
    return bool(run.terminal)


def enough(until: Until) -> Callable[[AgentRun], bool]:
    if callable(until):
        return until
    return has_ended if until == "end" else is_at_rest


def run_events(agent_run_id: int) -> Call[bytes]:
    path = "/v1/organizations/{org_id}/agent/run/{agent_run_id}/events"
    return Call("streamAgentRunEvents", "GET", path, whole_body, params={"agent_run_id": agent_run_id}, accept="text/event-stream")


def organization_events() -> Call[bytes]:
    return Call("streamOrganizationEvents", "GET", "/v1/organizations/{org_id}/events", whole_body, accept="text/event-stream")


def follow_event(event: ServerEvent) -> FollowEvent:
    """Returns an event of a run's stream as what the caller sees."""
    if event.event == "log" and event.seq is not None:
        return LogEvent(event.seq, AgentRunLogEntry(event.data))
    if event.event == "run":
        return RunEvent(AgentRun(event.data))
    return TransientEvent(event.event, event.data)


def organization_event(event: ServerEvent) -> OrganizationEvent:
    data = event.data
    run = data.get("run")
    return OrganizationEvent(event.seq or 0, str(data.get("type", event.event)), data["agent_run_id"], None if run is None else AgentRun(run))


class Deadline:
    """A point in time that may never come."""

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float:
        return float("inf") if self._at is None else max(0.0, self._at - time.monotonic())
