"""Receiving webhooks: Standard Webhooks signatures (specification.md#events)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from agentrun.models.webhooks import WebhookDeletion, WebhookMessage

TOLERANCE_SECONDS = 300.0


class WebhookVerificationError(Exception):
    """The message is not from the service, was changed, or is too old."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> WebhookMessage | WebhookDeletion:
    """Returns the message when one of its signatures is of this secret and its time is within five minutes. Raises WebhookVerificationError.

    `body`: the bytes as they came, before anything parses them. Remember `webhook-id`: a message may arrive more than once.
    Raises ValueError for an empty secret, such as that of a variable that is not set.
    """
    if not secret:
        raise ValueError("secret must not be empty: anybody could sign with it")
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp, signatures = (lower[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = (time.time() if now is None else now) - int(timestamp)
    except (KeyError, ValueError) as cause:
        raise WebhookVerificationError("The headers webhook-id, webhook-timestamp and webhook-signature are required") from cause
    if abs(age) >= TOLERANCE_SECONDS:
        raise WebhookVerificationError("The time of the message is more than five minutes away")
    digest = hmac.digest(_key(secret), f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    wanted = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(one.encode(), wanted) for one in signatures.split(" ")):
        raise WebhookVerificationError("No signature is of this secret")
    message = json.loads(body)
    return WebhookDeletion(message) if message.get("type") == "agent_run.deleted" else WebhookMessage(message)


def _key(secret: str) -> bytes:
    """A secret of the form `whsec_` and base64 stands for these bytes; any other text for its own."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True) or secret.encode()
    except binascii.Error:
        return secret.encode()
