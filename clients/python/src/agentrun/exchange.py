"""Requests and responses without any I/O, shared by both clients."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import httpx

from agentrun._version import __version__
from agentrun.call import Call, Result
from agentrun.errors import AgentRunError
from agentrun.retrying import retry_after
from agentrun.settings import Settings

RANDOM_KEY = ""
"""An idempotency key of the client's own: the same for all attempts of a call."""


@dataclass(frozen=True)
class Outgoing:
    """A request as it is sent, at each attempt the same."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None
    repeatable: bool = field(default=False)


def needs_organization(call: Call[Any]) -> bool:
    return "{org_id}" in call.path and call.params.get("org_id") is None


def outgoing(settings: Settings, call: Call[Any], organization_id: int | None, idempotency_key: str | None) -> Outgoing:
    """Returns the request of a call. `idempotency_key` None sends none, and then a create is not repeated after a cut connection."""
    params = {**call.params, "org_id": organization_id} if needs_organization(call) else call.params
    headers = {"accept": call.accept, "user-agent": f"agentrun-python/{__version__}"}
    if settings.token is not None and not call.public:
        headers["authorization"] = f"Bearer {settings.token}"
    content = None
    if call.body is not None:
        headers["content-type"] = "application/json"
        content = json.dumps(call.body).encode()
    key = secrets.token_hex(16) if idempotency_key == RANDOM_KEY else idempotency_key
    if call.keyed and key is not None:
        headers["idempotency-key"] = key
    return Outgoing(
        call.method,
        settings.base_url.rstrip("/") + _filled(call.path, params) + _search(call.query),
        headers,
        content,
        repeatable=call.method in ("GET", "PUT", "PATCH") or "idempotency-key" in headers or call.operation in REPEATABLE,
    )


REPEATABLE = ("stopAgentRun", "pauseAgentRun", "archiveAgentRun", "unarchiveAgentRun")
"""Operations of POST whose second arrival changes nothing."""


def _filled(path: str, params: Mapping[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: quote(str(params[match[1]]), safe=""), path)


def _search(query: Mapping[str, Any]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        several = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        pairs += [(name.removesuffix("_"), _text(one)) for one in several if one is not None]
    return f"?{urlencode(pairs)}" if pairs else ""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_status(response: httpx.Response) -> None:
    """Raises AgentRunError for anything but a success. The service never redirects, and a token must not be sent to another address."""
    if response.is_success:
        return
    if response.has_redirect_location:
        target = response.headers["location"]
        raise AgentRunError(f"{origin(response)} redirects to {target}: give the service's own address", status=response.status_code)
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        body = None
    problem = body if isinstance(body, dict) and isinstance(body.get("message"), str) else None
    raise AgentRunError(
        problem["message"] if problem else f"The service responded with {response.status_code} {response.reason_phrase}".strip(),
        status=response.status_code,
        code=str((problem or {}).get("code", "unexpected")),
        problem=problem,
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after(response.headers.get("retry-after")),
    )


def origin(response: httpx.Response) -> str:
    parts = urlsplit(str(response.url))
    return f"{parts.scheme}://{parts.netloc}"


def unreached(settings: Settings, cause: httpx.RequestError) -> AgentRunError:
    """Returns the error of a request that got no response, or only a part of one."""
    if isinstance(cause, httpx.TimeoutException):
        return AgentRunError(f"{settings.base_url} cannot be reached: no response within {settings.timeout:g} s", code="timeout")
    if isinstance(cause, httpx.DecodingError):
        return AgentRunError(f"{settings.base_url} sent a damaged response: {cause}", code="unexpected")
    return AgentRunError(f"{settings.base_url} cannot be reached: {cause or type(cause).__name__}", code="unreachable")


def next_cursor(response: httpx.Response) -> str | None:
    """Returns the cursor in the address of the next page (RFC 8288); the client sends it to its own address of the service."""
    match = re.search(r'<([^<>]*)>; rel="next"', response.headers.get("link", ""))
    cursors = parse_qs(urlsplit(match[1]).query).get("cursor", []) if match else []
    return cursors[0] if cursors else None


def with_cursor(call: Call[Result], cursor: str) -> Call[Result]:
    """Returns the call of the page behind a cursor, which replaces `skip` and `page`."""
    return replace(call, query={**call.query, "skip": None, "page": None, "cursor": cursor})


def only_organization(items: Sequence[Mapping[str, Any]]) -> int:
    """Returns the organization of a client that names none. Raises AgentRunError when the token has none or several."""
    if len(items) == 1:
        return int(items[0]["id"])
    which = ", ".join(f"{item['id']} ({item['name']})" for item in items)
    detail = f"The token belongs to {len(items)} organizations, choose one: {which}" if items else "The token belongs to no organization."
    raise AgentRunError(detail, code="organization_needed")


def check_event_stream(response: httpx.Response) -> None:
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        raise AgentRunError(f"The response of {response.url} is not an event stream.", status=response.status_code)
