"""A call of one operation, which either client can send."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx

from agentrun.errors import AgentRunError
from agentrun.model import Model

T = TypeVar("T")
M = TypeVar("M", bound=Model)
Result = TypeVar("Result", covariant=True)


@dataclass(frozen=True)
class Call(Generic[Result]):
    """One operation with its arguments; it does nothing until a client sends it."""

    operation: str
    method: str
    path: str
    read: Callable[[httpx.Response], Result]
    params: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    keyed: bool = False
    """Takes an `Idempotency-Key`."""
    public: bool = False
    """Needs no token, so none is sent."""
    accept: str = "application/json"


def json_of(response: httpx.Response) -> Any:
    """Returns the JSON of a response. A body that is none, or only a part of one, is an AgentRunError."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError) as cause:
        raise AgentRunError(f"The response of {response.url} is not JSON: is it the service?", status=response.status_code) from cause


def json_object(response: httpx.Response) -> dict[str, Any]:
    value = json_of(response)
    if not isinstance(value, dict):
        raise AgentRunError(f"The response of {response.url} is not an object: is it the service?", status=response.status_code)
    return value


def whole_body(response: httpx.Response) -> bytes:
    return response.content


def as_model(model: type[M]) -> Callable[[httpx.Response], M]:
    """Returns a function that reads a response as this model."""
    return lambda response: model(json_object(response))


def json_list(response: httpx.Response) -> list[Any]:
    value = json_of(response)
    if not isinstance(value, list):
        raise AgentRunError(f"The response of {response.url} is not a list: is it the service?", status=response.status_code)
    return value


def as_models(model: type[M]) -> Callable[[httpx.Response], list[M]]:
    """Returns a function that reads a response as a list of this model."""
    return lambda response: [model(item) for item in json_list(response)]
