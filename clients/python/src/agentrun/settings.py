"""How a client sends."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from agentrun.errors import AgentRunError
from agentrun.retrying import wait_after

DEFAULT_URL = "http://127.0.0.1:4600"


@dataclass(frozen=True)
class Settings:
    """How a client sends."""

    base_url: str
    token: str | None = None
    retries: int = 4
    timeout: float = 60.0
    max_wait: float = 60.0
    on_wait: Callable[[AgentRunError, float], None] | None = None

    def __post_init__(self) -> None:
        if not re.match(r"https?://[^/?#]", self.base_url):
            raise ValueError("base_url must be an http or https address")
        if self.token is not None and not re.fullmatch(r"[\x21-\x7e]+", self.token):
            raise ValueError("token must be printable ASCII without blanks")

    def delay(self, error: AgentRunError, failures: int, *, repeatable: bool) -> float | None:
        """Seconds before the next attempt, which it reports to `on_wait`; None when the error is final."""
        wait = wait_after(error, failures, repeatable=repeatable) if failures <= self.retries else None
        if wait is None or wait > self.max_wait:
            return None
        if self.on_wait is not None:
            self.on_wait(error, wait)
        return wait


def settings_of(
    base_url: str | None,
    token: str | None,
    retries: int,
    timeout: float,
    max_wait: float,
    on_wait: Callable[[AgentRunError, float], None] | None,
) -> Settings:
    """Returns the settings of a client: its arguments, or the variables of the command line `agentrun`."""
    url = base_url or os.environ.get("AGENTRUN_URL") or DEFAULT_URL
    return Settings(url, token or os.environ.get("AGENTRUN_TOKEN"), retries, timeout, max_wait, on_wait)


def organization_of_environment() -> int | None:
    value = os.environ.get("AGENTRUN_ORG")
    return int(value) if value else None
