"""The running service that these tests use; test/client/python.test.ts starts it."""

from __future__ import annotations

import os

from agentrun import AsyncClient, Client

URL = os.environ["AGENTRUN_URL"]
TOKEN = os.environ["AGENTRUN_TOKEN"]
CODEGEN_TOKEN = os.environ["CODEGEN_TOKEN"]
"""A token of the wire profile `codegen`."""
TIMEOUT = 60.0


def client(base_url: str = URL, token: str = TOKEN) -> Client:
    return Client(base_url, token, organization_id=1)


def async_client(base_url: str = URL) -> AsyncClient:
    return AsyncClient(base_url, TOKEN, organization_id=1)


def playbook(*steps: str) -> str:
    """A prompt that the scripted model plays."""
    return "Play.\n\n```playbook\n" + "".join(f"- {step}\n" for step in steps) + "```\n"
