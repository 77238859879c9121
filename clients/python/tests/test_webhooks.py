"""Signatures of webhooks (specification.md#events)."""

import base64
import hashlib
import hmac
import json
import unittest

from agentrun import operations as op
from agentrun.models import WebhookDeletion, WebhookMessage
from agentrun.webhooks import WebhookVerificationError, verify
from faults import FaultServer, Reply
from service import TIMEOUT, client, playbook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = json.dumps({"type": "agent_run.finished", "data": {"agent_run_id": 7, "status": "completed"}}).encode()


def signed(body: bytes = BODY, secret: str = SECRET, timestamp: str = "1000000") -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.digest(key, f"msg_1.{timestamp}.".encode() + body, hashlib.sha256)
    signature = "v1," + base64.b64encode(digest).decode()
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": timestamp, "Webhook-Signature": signature}


class Verify(unittest.TestCase):
    def test_the_example_of_standard_webhooks_is_accepted(self) -> None:
        headers = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        message = verify(SECRET, headers, b'{"test": 2432232314}', now=1614265330)
        self.assertEqual(message.to_json(), {"test": 2432232314})

    def test_a_message_is_returned_as_its_model(self) -> None:
        message = verify(SECRET, signed(), BODY, now=1_000_299)
        self.assertIsInstance(message, WebhookMessage)
        self.assertEqual(message.data.agent_run_id, 7)
        deletion = json.dumps({"type": "agent_run.deleted", "data": {"agent_run_id": 7}}).encode()
        self.assertIsInstance(verify("plain", signed(deletion, "plain"), deletion, now=1_000_000), WebhookDeletion)

    def test_one_of_two_signatures_is_enough(self) -> None:
        other = signed(secret="whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")["Webhook-Signature"]
        headers = {**signed(), "Webhook-Signature": f"{other} {signed()['Webhook-Signature']}"}
        self.assertEqual(verify(SECRET, headers, BODY, now=1_000_000).type, "agent_run.finished")

    def test_changed_old_and_unsigned_messages_are_refused(self) -> None:
        refused = [
            (signed(), BODY + b" ", 1_000_000),
            (signed(), BODY, 1_000_300),
            (signed(), BODY, 999_700),
            (signed(secret="another"), BODY, 1_000_000),
            (signed(timestamp="soon"), BODY, 1_000_000),
            ({**signed(), "Webhook-Id": "msg_2"}, BODY, 1_000_000),
            ({name: value for name, value in signed().items() if name != "Webhook-Signature"}, BODY, 1_000_000),
        ]
        for headers, body, now in refused:
            with self.assertRaises(WebhookVerificationError):
                verify(SECRET, headers, body, now=now)

    def test_an_empty_secret_verifies_nothing(self) -> None:
        with self.assertRaisesRegex(ValueError, "secret must not be empty"):
            verify("", signed(secret=""), BODY, now=1_000_000)

    def test_messages_of_the_running_service_are_accepted(self) -> None:
        with FaultServer(Reply()) as receiver, client() as agents:
            agents.send(op.set_webhook(url=receiver.url, secret=SECRET, events=["agent_run.finished"]))
            run = agents.runs.create(prompt=playbook("answer: Done.")).wait(timeout=TIMEOUT)
            received = receiver.wait_for(lambda request: json.loads(request.body)["data"]["agent_run_id"] == run.id, TIMEOUT)
            agents.send(op.delete_webhook())
        message = verify(SECRET, received.headers, received.body)
        self.assertEqual((message.type, message.data.result), ("agent_run.finished", "Done."))
        with self.assertRaises(WebhookVerificationError):
            verify("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", received.headers, received.body)
