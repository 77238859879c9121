"""The one error of this client (specification.md#errors)."""

from __future__ import annotations

from typing import Any

from agentrun.models.agents import FieldError


class AgentRunError(Exception):
    """Every failure of a call.

    `status` is the HTTP status, or 0 when there was no response: `code` is then `unreachable`, `timeout`, `stream_blocked` or
    `organization_needed`. A response that is not from the service has the code `unexpected`.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        code: str = "unexpected",
        problem: dict[str, Any] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.code = code
        self.problem = problem
        """The problem document as the service sent it; `problem["type"]` is the address of its cause and fix."""
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds that the service requests to wait."""

    @property
    def errors(self) -> list[FieldError]:
        """The problem of each field: `loc` is `body`, `query` or `path` and the names below."""
        listed = (self.problem or {}).get("errors")
        return [FieldError(item) for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
