"""Streams of the asynchronous client: one connection after the other, each event once (specification.md#events)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx

from agentrun.call import Call
from agentrun.errors import AgentRunError
from agentrun.exchange import check_event_stream
from agentrun.retrying import back_off
from agentrun.sse import HEARTBEAT, SILENCE_SECONDS, EventParser, Gap, Position, ServerEvent, blocked, reconnect_delay

if TYPE_CHECKING:
    from agentrun.async_client import AsyncClient


async def stream_events(client: AsyncClient, call: Call[bytes], position: Position, *, silence: float = SILENCE_SECONDS) -> AsyncIterator[ServerEvent]:
    """Yields events and heartbeats for as long as the caller reads on, however connections end.

    Raises AgentRunError when the stream is refused or cannot be reached again, with code `stream_blocked` when it opens but sends nothing.
    """
    failures = 0
    opened = False
    while True:
        try:
            after = {} if position.last is None else {"last-event-id": str(position.last)}
            async with client.open_stream(call, after, silence) as response:
                opened = True
                async for event in connection_events(response):
                    failures = 0
                    if event is HEARTBEAT or position.is_new(event):
                        yield event
            failures += 1
            wait = back_off(failures)
        except Gap:
            failures += 1
            wait = back_off(failures)
        except AgentRunError as error:
            failures += 1
            # The first connection gets the attempts of any other call.
            later = reconnect_delay(error, failures) if opened else client.settings.delay(error, failures, repeatable=True)
            if later is None:
                raise
            wait = later
        await asyncio.sleep(wait)


async def connection_events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    """Yields the events of one connection; ends when it is cut or silent."""
    check_event_stream(response)
    parser = EventParser()
    received = False
    try:
        async for chunk in response.aiter_raw():
            received = True
            for event in parser.feed(chunk):
                yield event
    except httpx.ReadTimeout as cause:
        if not received:
            raise blocked(str(response.url)) from cause
    except httpx.TransportError:
        return
