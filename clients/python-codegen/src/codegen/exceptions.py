"""Errors, by the names of the Codegen SDK (specification.md#errors)."""

from __future__ import annotations

from typing import Any

from agentrun import AgentRunError


class CodegenError(Exception):
    """Any failure of a request. `status_code` is None when there was no response."""

    def __init__(self, message: str, status_code: int | None = None, response_data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        self.response_data = response_data or {}


class AuthenticationError(CodegenError):
    """401: no token, or one that is refused."""


class AuthorizationError(CodegenError):
    """403: not a member of the organization, or a missing scope."""


class NotFoundError(CodegenError):
    """404: not in this organization."""


class ValidationError(CodegenError):
    """400 and 422: an invalid request."""


class RateLimitError(CodegenError):
    """429, after the attempts of the client."""


class ServerError(CodegenError):
    """5xx: a failure of the service."""


class APIError(CodegenError):
    """Everything else, also that there was no response."""


BY_STATUS: dict[int, type[CodegenError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: AuthorizationError,
    404: NotFoundError,
    422: ValidationError,
    429: RateLimitError,
}


def error_of(error: AgentRunError) -> CodegenError:
    """Returns the error that a program for the Codegen SDK expects."""
    kind = BY_STATUS.get(error.status, ServerError if error.status >= 500 else APIError)
    return kind(error.detail, error.status or None, error.problem)
