"""The asynchronous client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import httpx

from agentrun.call import Call
from agentrun.errors import AgentRunError
from agentrun.exchange import RANDOM_KEY, Outgoing, check_status, needs_organization, only_organization, outgoing, unreached
from agentrun.model import Page
from agentrun.models.organizations import OrganizationResponse
from agentrun.models.repositories import RepoResponse
from agentrun.operations.organizations import list_organizations
from agentrun.operations.repositories import list_repositories
from agentrun.settings import organization_of_environment, settings_of
from agentrun.async_pages import AsyncPages, listed, unchanged
from agentrun.async_runs import AsyncRuns

T = TypeVar("T")
Item = TypeVar("Item")


class AsyncClient:
    """A client of one service as one token. It sends nothing before it is used; close it, or use it with `async with`.

    Without arguments it reads AGENTRUN_URL, AGENTRUN_TOKEN and AGENTRUN_ORG. Without an organization it uses the token's only one, which it
    requests once. `timeout` (seconds) is the longest silence of one attempt; a `Retry-After` above `max_wait` is an error at once. `on_wait` is called with the
    failure and the seconds before each repetition.
    """

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        organization_id: int | None = None,
        retries: int = 4,
        timeout: float = 60.0,
        max_wait: float = 60.0,
        on_wait: Callable[[AgentRunError, float], None] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.settings = settings_of(base_url, token, retries, timeout, max_wait, on_wait)
        self._organization_id = organization_id or organization_of_environment()
        self._http = http or httpx.AsyncClient(timeout=timeout, follow_redirects=False)
        self.runs = AsyncRuns(self)

    async def send(self, call: Call[T], *, idempotency_key: str | None = RANDOM_KEY) -> T:
        """Sends a call of `agentrun.operations` and returns its result. Raises AgentRunError.

        A create gets a random `Idempotency-Key`, so that it can be repeated; None sends none.
        """
        return call.read(await self.exchange(call, idempotency_key))

    async def exchange(self, call: Call[Any], idempotency_key: str | None = RANDOM_KEY) -> httpx.Response:
        """Sends a call and returns its whole response, which is a success."""
        request = await self._outgoing(call, idempotency_key)
        failures = 0
        while True:
            try:
                return await self._attempt(request)
            except AgentRunError as error:
                failures += 1
                wait = self.settings.delay(error, failures, repeatable=request.repeatable)
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    @asynccontextmanager
    async def open_stream(self, call: Call[Any], headers: dict[str, str], read_timeout: float) -> AsyncIterator[httpx.Response]:
        """Opens the response of a call without reading it. `read_timeout`: the longest silence in it, in seconds."""
        request = await self._outgoing(call, None)
        timeout = httpx.Timeout(self.settings.timeout, read=read_timeout)
        # A proxy that compresses holds back what does not fill a block.
        sent = {**request.headers, "accept-encoding": "identity", **headers}
        try:
            async with self._http.stream(request.method, request.url, headers=sent, timeout=timeout) as response:
                if not response.is_success:
                    await response.aread()
                    check_status(response)
                yield response
        except httpx.RequestError as cause:
            raise unreached(self.settings, cause) from cause

    def pages(self, call: Call[Page[Item]]) -> AsyncPages[Page[Item], Item]:
        """Returns every item of a list of `agentrun.operations`, page after page."""
        return listed(self, call, unchanged)

    async def organization(self) -> int:
        """Returns the id of the organization that is used where none is given."""
        if self._organization_id is None:
            page = await self.send(list_organizations(limit=100))
            self._organization_id = only_organization([item.to_json() for item in page.items])
        return self._organization_id

    def organizations(self) -> AsyncPages[Page[OrganizationResponse], OrganizationResponse]:
        return listed(self, list_organizations(), unchanged)

    def repositories(self) -> AsyncPages[Page[RepoResponse], RepoResponse]:
        return listed(self, list_repositories(), unchanged)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    async def _outgoing(self, call: Call[Any], idempotency_key: str | None) -> Outgoing:
        organization_id = await self.organization() if needs_organization(call) else None
        return outgoing(self.settings, call, organization_id, idempotency_key)

    async def _attempt(self, request: Outgoing) -> httpx.Response:
        try:
            response = await self._http.request(request.method, request.url, headers=dict(request.headers), content=request.content)
        except httpx.RequestError as cause:
            raise unreached(self.settings, cause) from cause
        check_status(response)
        return response
