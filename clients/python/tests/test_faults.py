"""Failures of the service and of the way to it (specification.md#errors, specification.md#rate-limits)."""

import threading
import unittest
from email.utils import formatdate
from time import time

from agentrun import AgentRunError, AsyncClient, Client
from agentrun import operations as op
from agentrun.retrying import back_off, retry_after
from faults import FaultServer, Reply

RUN = {"id": 7, "organization_id": 1, "status": "queued", "terminal": False, "total_logs": 1}


def refused(status: int, code: str, **headers: str) -> Reply:
    return Reply(status, {"status": status, "code": code, "message": f"{code}!", "errors": []}, headers)


class Faults(unittest.TestCase):
    def send(self, server: FaultServer, create: bool = False, **options: object) -> tuple[list[float], object]:
        waits: list[float] = []
        with Client(server.url, "token", organization_id=1, on_wait=lambda _error, wait: waits.append(wait), **options) as agents:  # type: ignore[arg-type]
            try:
                return waits, agents.runs.create(prompt="x") if create else agents.runs.get(7)
            except AgentRunError as error:
                return waits, error

    def test_429_is_repeated_after_the_requested_time_for_every_method(self) -> None:
        with FaultServer(refused(429, "rate_limited", **{"retry-after": "0"}), Reply(body=RUN)) as server:
            self.assertEqual(self.send(server, create=True)[0], [0.0])
            self.assertEqual(len({request.headers["idempotency-key"] for request in server.requests}), 1)
            self.assertEqual(len(server.requests), 2)

    def test_429_without_a_time_is_repeated_with_growing_delays(self) -> None:
        with FaultServer(refused(429, "rate_limited"), refused(429, "rate_limited"), Reply(body=RUN)) as server:
            waits, run = self.send(server)
            self.assertEqual([0.25 <= waits[0] <= 0.5, 0.5 <= waits[1] <= 1.0, run.id], [True, True, 7])  # type: ignore[attr-defined]

    def test_a_longer_wait_than_allowed_is_an_error_at_once(self) -> None:
        with FaultServer(refused(429, "rate_limited", **{"retry-after": "61"})) as server:
            waits, error = self.send(server)
            self.assertEqual((waits, error.status, error.retry_after, len(server.requests)), ([], 429, 61.0, 1))  # type: ignore[attr-defined]

    def test_retries_end(self) -> None:
        with FaultServer(refused(429, "rate_limited", **{"retry-after": "0"})) as server:
            self.send(server, retries=2)
            self.assertEqual(len(server.requests), 3)

    def test_a_half_response_is_repeated_with_the_same_key(self) -> None:
        with FaultServer(Reply(body=RUN, length=5_000), Reply(body=RUN)) as server:
            self.assertEqual(self.send(server, create=True)[1].id, 7)  # type: ignore[attr-defined]
            self.assertEqual(len({request.headers["idempotency-key"] for request in server.requests}), 1)

    def test_a_response_that_stalls_is_a_timeout_and_repeated(self) -> None:
        released = threading.Event()
        with FaultServer(Reply(body=RUN, stalled=released), Reply(body=RUN)) as server:
            waits, run = self.send(server, create=True, timeout=0.2)
            released.set()
            self.assertEqual((len(waits), run.id, len(server.requests)), (1, 7, 2))  # type: ignore[attr-defined]

    def test_a_damaged_compressed_response_is_repeated_and_then_an_error(self) -> None:
        damaged = Reply(body=b'{"id": 7}', headers={"content-encoding": "gzip"})
        with FaultServer(damaged, Reply(body=RUN)) as server:
            self.assertEqual(self.send(server)[1].id, 7)  # type: ignore[attr-defined]
        with FaultServer(damaged) as server:
            error = self.send(server, retries=0)[1]
            self.assertEqual((error.code, "damaged" in error.detail), ("unexpected", True))  # type: ignore[attr-defined]

    def test_a_create_without_a_key_is_not_repeated(self) -> None:
        with FaultServer(Reply(body=RUN, length=5_000), Reply(body=RUN)) as server:
            with Client(server.url, "token", organization_id=1) as agents, self.assertRaises(AgentRunError) as caught:
                agents.runs.create(prompt="x", idempotency_key=None)
            self.assertEqual((caught.exception.code, len(server.requests)), ("unreachable", 1))

    def test_a_body_that_is_not_the_services_is_an_error(self) -> None:
        for body in (b'{"id": 7, "sta', b"<html>", b"[]", b"", b"[" * 100_000):
            with FaultServer(Reply(body=body)) as server:
                error = self.send(server)[1]
                self.assertEqual((error.code, error.status), ("unexpected", 200), body)  # type: ignore[attr-defined]

    def test_a_refusal_of_a_proxy_is_described_by_its_status(self) -> None:
        for body in (b"<html>", b"[" * 100_000, b'{"message": 7}'):
            with FaultServer(Reply(418, body)) as server:
                error = self.send(server)[1]
            self.assertEqual((error.code, error.detail), ("unexpected", "The service responded with 418 I'm a Teapot"))  # type: ignore[attr-defined]

    def test_a_redirect_is_not_followed_because_the_token_would_be_sent_there(self) -> None:
        with FaultServer(Reply()) as other, FaultServer(Reply(302, headers={"location": other.url})) as server:
            self.assertIn("redirects to", self.send(server)[1].detail)  # type: ignore[attr-defined]
            self.assertEqual(other.requests, [])

    def test_a_service_that_does_not_respond_is_a_timeout(self) -> None:
        released = threading.Event()
        with FaultServer(Reply(silent=released)) as server:
            error = self.send(server, timeout=0.2, retries=0)[1]
            released.set()
            self.assertEqual((error.code, error.status), ("timeout", 0))  # type: ignore[attr-defined]

    def test_no_service_is_unreachable(self) -> None:
        with FaultServer() as server:
            pass
        waits, error = self.send(server, retries=1)
        self.assertEqual((error.code, len(waits)), ("unreachable", 1))  # type: ignore[attr-defined]

    def test_unknown_fields_and_unknown_values_of_enums_are_kept(self) -> None:
        newer = {**RUN, "status": "hibernating", "mood": "good", "github_pull_requests": [{"id": 1, "colour": "red"}]}
        with FaultServer(Reply(body=newer)) as server:
            run = self.send(server)[1]
            self.assertEqual((run.status, run.mood, run.github_pull_requests[0].colour), ("hibernating", "good", "red"))  # type: ignore[attr-defined]
            self.assertEqual(run.to_json(), newer)  # type: ignore[attr-defined]
            with self.assertRaisesRegex(AttributeError, "Run has no field 'result'"):
                run.result  # type: ignore[attr-defined]

    def test_several_values_of_a_filter_are_repeated(self) -> None:
        with FaultServer(Reply(body={"items": []})) as server, Client(server.url, "token", organization_id=1) as agents:
            agents.send(op.list_agent_runs(status=["failed", "cancelled"], archived=True, q="a b"))
            self.assertEqual(server.requests[0].path, "/v1/organizations/1/agent/runs?status=failed&status=cancelled&archived=true&q=a+b")

    def test_a_token_of_several_organizations_needs_one_of_them(self) -> None:
        organizations = {"items": [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}]}
        with FaultServer(Reply(body=organizations)) as server, Client(server.url, "token") as agents:
            with self.assertRaisesRegex(AgentRunError, r"choose one: 1 \(A\), 2 \(B\)"):
                agents.runs.get(7)

    def test_a_client_with_an_invalid_address_or_token_is_refused(self) -> None:
        for arguments in (("ftp://host", "token"), ("http://", "token"), ("http://host", "to ken"), ("http://host", "tökn")):
            with self.assertRaises(ValueError):
                Client(*arguments)


class AsyncFaults(unittest.IsolatedAsyncioTestCase):
    async def test_refusals_half_responses_and_silence_are_repeated(self) -> None:
        released = threading.Event()
        failing = (
            (refused(429, "rate_limited", **{"retry-after": "0"}), "rate_limited"),
            (refused(429, "rate_limited"), "rate_limited"),
            (Reply(body=RUN, length=5_000), "unreachable"),
            (Reply(silent=released), "timeout"),
            (Reply(body=RUN, stalled=released), "timeout"),
        )
        for reply, code in failing:
            failures: list[str] = []
            with FaultServer(reply, Reply(body={**RUN, "status": "hibernating", "mood": "good"})) as server:
                options = {"timeout": 0.2, "on_wait": lambda error, _wait, seen=failures: seen.append(error.code)}
                async with AsyncClient(server.url, "token", organization_id=1, **options) as agents:  # type: ignore[arg-type]
                    run = await agents.runs.create(prompt="x")
                self.assertEqual((failures, run.status, run.mood), ([code], "hibernating", "good"))  # type: ignore[attr-defined]
                self.assertEqual(len({request.headers["idempotency-key"] for request in server.requests}), 1)
        released.set()


class Delays(unittest.TestCase):
    def test_retry_after_is_read_as_seconds_and_as_a_date(self) -> None:
        self.assertEqual([retry_after(value) for value in ("0", "17", None, "soon", "-1", "")], [0.0, 17.0, None, None, None, None])
        self.assertTrue(55 < (retry_after(formatdate(time() + 60, usegmt=True)) or 0) <= 60)
        self.assertEqual(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), 0.0)

    def test_delays_double_up_to_eight_seconds(self) -> None:
        for failures, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (60, 8.0)):
            self.assertTrue(longest / 2 <= back_off(failures) <= longest)
