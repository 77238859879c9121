"""Calls about runs, and a run with its methods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Unpack

from agentrun.errors import AgentRunError
from agentrun.exchange import RANDOM_KEY
from agentrun.follow import (
    POLL_SECONDS,
    Deadline,
    FollowEvent,
    OrganizationEvent,
    RunEvent,
    Until,
    enough,
    follow_event,
    organization_event,
    organization_events,
    run_events,
)
from agentrun.model import Page
from agentrun.models.agents import AgentRun, AgentRunDiff, AgentRunDryRun, AgentRunLogEntry, AgentRunWithLogsResponse, CreateAgentRunInput
from agentrun.operations import agents
from agentrun.async_pages import AsyncPages, listed
from agentrun.run_calls import next_logs, patch_call, refuses_streams, too_late
from agentrun.sse import HEARTBEAT, SILENCE_SECONDS, Position
from agentrun.async_stream import stream_events

if TYPE_CHECKING:
    from agentrun.async_client import AsyncClient


class AsyncRun(AgentRun):
    """A run as it was when it was last read, with what can be done with it."""

    def __init__(self, client: AsyncClient, run: AgentRun) -> None:
        super().__init__(run.to_json())
        self._client = client

    async def refresh(self) -> AsyncRun:
        """Reads the run again."""
        return self._became(await self._client.runs.get(self.id))

    async def wait(self, *, timeout: float | None = None, until: Until = "rest") -> AsyncRun:
        """Waits until the run has ended, is paused or waits for a person. A failed run does not raise: see `status`.

        Raises AgentRunError with code `timeout` when that takes more than `timeout` seconds; the run continues.
        """
        return self._became(await self._client.runs.wait(self.id, timeout=timeout, until=until, after_seq=self.total_logs))

    def follow(self, *, after_seq: int = 0, until: Until = "end") -> AsyncIterator[FollowEvent]:
        """Yields the trace as it grows, each entry once and in order, also over reconnections."""
        return self._client.runs.follow(self.id, after_seq=after_seq, until=until)

    def logs(self, **query: Unpack[agents.GetAgentRunLogsQuery]) -> AsyncPages[AgentRunWithLogsResponse, AgentRunLogEntry]:
        return self._client.runs.logs(self.id, **query)

    async def resume(self, prompt: str, *, idempotency_key: str | None = RANDOM_KEY) -> AsyncRun:
        """Sends a follow-up."""
        return self._became(await self._client.runs.resume(self.id, prompt, idempotency_key=idempotency_key))

    async def fork(self, from_seq: int, *, idempotency_key: str | None = RANDOM_KEY) -> AsyncRun:
        """Starts a new run from the files and the conversation at this entry."""
        call = agents.fork_agent_run(agent_run_id=self.id, from_seq=from_seq)
        return AsyncRun(self._client, await self._client.send(call, idempotency_key=idempotency_key))

    async def stop(self) -> AsyncRun:
        return self._became(await self._client.send(agents.stop_agent_run(agent_run_id=self.id)))

    async def pause(self) -> AsyncRun:
        return self._became(await self._client.send(agents.pause_agent_run(agent_run_id=self.id)))

    async def diff(self) -> AgentRunDiff:
        return await self._client.send(agents.get_agent_run_diff(self.id))

    async def patch(self) -> str:
        """Returns the changes as git writes them."""
        return (await self._client.send(patch_call(self.id))).decode()

    def _became(self, run: AgentRun) -> AsyncRun:
        AgentRun.__init__(self, run.to_json())
        return self


class AsyncRuns:
    """The runs of the client's organization."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def create(self, *, idempotency_key: str | None = RANDOM_KEY, **body: Unpack[CreateAgentRunInput]) -> AsyncRun:
        """Starts a run: `create(prompt="Fix the failing test")`."""
        return AsyncRun(self._client, await self._client.send(agents.create_agent_run(**body), idempotency_key=idempotency_key))

    async def dry_run(self, **body: Unpack[CreateAgentRunInput]) -> AgentRunDryRun:
        """Returns what a create would do and what prevents it, without creating anything."""
        return await self._client.send(agents.dry_run_agent_run(**body))

    async def get(self, agent_run_id: int) -> AsyncRun:
        return AsyncRun(self._client, await self._client.send(agents.get_agent_run(agent_run_id)))

    def list(self, **query: Unpack[agents.ListAgentRunsQuery]) -> AsyncPages[Page[AgentRun], AsyncRun]:
        return listed(self._client, agents.list_agent_runs(**query), lambda run: AsyncRun(self._client, run))

    async def resume(self, agent_run_id: int, prompt: str, *, idempotency_key: str | None = RANDOM_KEY) -> AsyncRun:
        call = agents.resume_agent_run(agent_run_id=agent_run_id, prompt=prompt)
        return AsyncRun(self._client, await self._client.send(call, idempotency_key=idempotency_key))

    def logs(self, agent_run_id: int, **query: Unpack[agents.GetAgentRunLogsQuery]) -> AsyncPages[AgentRunWithLogsResponse, AgentRunLogEntry]:
        """Returns the trace; `limit` is the size of a page. It continues from the last entry, with any filter."""

        async def load() -> AsyncIterator[AgentRunWithLogsResponse]:
            position: agents.GetAgentRunLogsQuery | None = query
            while position is not None:
                page = await self._client.send(agents.get_agent_run_logs(agent_run_id, **position))
                yield page
                position = next_logs(page, position)

        return AsyncPages(load, lambda page: page.logs)

    async def follow(self, agent_run_id: int, *, after_seq: int = 0, until: Until = "end") -> AsyncIterator[FollowEvent]:
        done = enough(until)
        async for event in stream_events(self._client, run_events(agent_run_id), Position(after_seq, dense=True)):
            if event is HEARTBEAT:
                continue
            seen = follow_event(event)
            yield seen
            if isinstance(seen, RunEvent) and done(seen.run):
                return

    async def events(self, *, after_seq: int | None = None) -> AsyncIterator[OrganizationEvent]:
        """Yields status changes of all runs of the organization, from now on or after `after_seq`. Does not end by itself."""
        async for event in stream_events(self._client, organization_events(), Position(after_seq, dense=False)):
            if event.seq is not None:
                yield organization_event(event)

    async def wait(self, agent_run_id: int, *, timeout: float | None = None, until: Until = "rest", after_seq: int = 0) -> AsyncRun:
        """Returns the run once `until` holds. Follows its events; polls where streams are refused or blocked by a proxy."""
        deadline = Deadline(timeout)
        try:
            run = await self._wait_by_stream(agent_run_id, deadline, until, after_seq)
        except AgentRunError as error:
            if not refuses_streams(error):
                raise
            run = None
        return AsyncRun(self._client, run) if run is not None else await self._wait_by_polling(agent_run_id, deadline, until)

    async def _wait_by_stream(self, agent_run_id: int, deadline: Deadline, until: Until, after_seq: int) -> AgentRun | None:
        """Returns None when the deadline is so near that the next heartbeat may be after it: the rest is polled."""
        done = enough(until)
        if deadline.remaining() < SILENCE_SECONDS:
            return None
        async for event in stream_events(self._client, run_events(agent_run_id), Position(after_seq, dense=True)):
            if event.event == "run" and done(run := AgentRun(event.data)):
                return run
            if deadline.remaining() < SILENCE_SECONDS:
                return None
        return None

    async def _wait_by_polling(self, agent_run_id: int, deadline: Deadline, until: Until) -> AsyncRun:
        done = enough(until)
        while True:
            run = await self.get(agent_run_id)
            if done(run):
                return run
            if deadline.remaining() == 0:
                raise too_late(agent_run_id)
            await asyncio.sleep(min(POLL_SECONDS, deadline.remaining()))
