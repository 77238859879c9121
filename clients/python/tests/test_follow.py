"""Streams over connections that break (specification.md#events)."""

import threading
import unittest

from agentrun import AgentRunError, AsyncClient, Client, LogEvent, RunEvent
from agentrun.sse import HEARTBEAT, EventParser, Gap, Position, ServerEvent
from agentrun.stream import stream_events
from agentrun.follow import run_events
from faults import CutProxy, FaultServer, Reply
from service import TIMEOUT, TOKEN, URL, async_client, client, playbook

STEPS = playbook(*(f"run: echo {number}" for number in range(12)), "answer: Done.")


def cut(connection: int) -> int:
    """Each connection passes on a little more than the one before, so that cuts fall everywhere."""
    return 900 + 601 * connection


class Follow(unittest.TestCase):
    def test_a_growing_trace_over_cut_connections_has_no_gap_and_nothing_twice(self) -> None:
        with CutProxy(URL, cut) as proxy, client() as direct, Client(proxy.url, TOKEN, organization_id=1) as cut_client:
            run = direct.runs.create(prompt=STEPS)
            events = list(cut_client.runs.follow(run.id))
            self.assertEqual([event.seq for event in events if isinstance(event, LogEvent)], list(range(1, run.refresh().total_logs + 1)))
            self.assertTrue(isinstance(events[-1], RunEvent) and events[-1].run.terminal)
            self.assertGreater(proxy.connections, 3)

    def test_following_begins_after_an_entry_and_ends_at_rest(self) -> None:
        with client() as agents:
            run = agents.runs.create(prompt=playbook("run: echo 1", "ask: Which?", "answer: Done."))
            seqs = [event.seq for event in run.follow(after_seq=1, until="rest") if isinstance(event, LogEvent)]
            self.assertEqual(seqs, list(range(2, run.refresh().total_logs + 1)))
            self.assertEqual(run.waiting_on, "user_input")

    def test_a_run_that_does_not_exist_is_refused_at_once(self) -> None:
        with client() as agents, self.assertRaises(AgentRunError) as caught:
            list(agents.runs.follow(424_242))
        self.assertEqual(caught.exception.status, 404)

    def test_a_stream_that_opens_and_sends_nothing_is_reported(self) -> None:
        class Silent(FaultServer):
            released = threading.Event()

            def send(self, handler, reply):  # type: ignore[no-untyped-def]
                handler.send_response(200)
                handler.send_header("content-type", "text/event-stream")
                handler.end_headers()
                handler.wfile.flush()
                self.released.wait()

        with Silent(Reply()) as server, Client(server.url, TOKEN, organization_id=1) as agents:
            with self.assertRaises(AgentRunError) as caught:
                list(stream_events(agents, run_events(1), Position(0, dense=True), silence=0.2))
            self.assertEqual((caught.exception.code, len(server.requests)), ("stream_blocked", 1))
            server.released.set()

    def test_a_page_instead_of_a_stream_makes_a_wait_poll(self) -> None:
        run = {"id": 1, "status": "running", "terminal": False, "total_logs": 1}
        done = {**run, "status": "completed", "terminal": True}
        with FaultServer(Reply(body=b"<html>", headers={"content-type": "text/html"}), Reply(body=done)) as server:
            with Client(server.url, TOKEN, organization_id=1) as agents:
                self.assertEqual(agents.runs.wait(1, timeout=TIMEOUT).status, "completed")
            self.assertEqual([request.path.rpartition("/")[2] for request in server.requests], ["events", "1"])

    def test_a_missing_event_opens_the_connection_again(self) -> None:
        def frames(*seqs: int) -> bytes:
            return "".join(f'id: {seq}\nevent: log\ndata: {{"seq": {seq}}}\n\n' for seq in seqs).encode()

        end = b'event: run\ndata: {"terminal": true}\n\n'
        stream = {"content-type": "text/event-stream"}
        with FaultServer(Reply(body=frames(1, 3), headers=stream), Reply(body=frames(1, 2, 3) + end, headers=stream)) as server:
            with Client(server.url, TOKEN, organization_id=1) as agents:
                seqs = [event.seq for event in agents.runs.follow(1) if isinstance(event, LogEvent)]
            self.assertEqual(seqs, [1, 2, 3])
            self.assertEqual([request.headers["last-event-id"] for request in server.requests], ["0", "1"])
            self.assertEqual({request.headers["accept-encoding"] for request in server.requests}, {"identity"})


class AsyncFollow(unittest.IsolatedAsyncioTestCase):
    async def test_a_growing_trace_over_cut_connections_has_no_gap_and_nothing_twice(self) -> None:
        with CutProxy(URL, cut) as proxy:
            async with async_client() as direct, AsyncClient(proxy.url, TOKEN, organization_id=1) as cut_client:
                run = await direct.runs.create(prompt=STEPS)
                seqs = [event.seq async for event in cut_client.runs.follow(run.id) if isinstance(event, LogEvent)]
                self.assertEqual(seqs, list(range(1, (await run.refresh()).total_logs + 1)))
                self.assertGreater(proxy.connections, 3)


class Parser(unittest.TestCase):
    text = ': hi\r\nid: 7\r\nevent: log\r\ndata: {"a":\ndata: "ü"}\n\nevent: tool\rdata: 1\r\rid: 8\ndata: 2\n'.encode()
    events = [HEARTBEAT, ServerEvent(7, "log", {"a": "ü"}), ServerEvent(None, "tool", 1)]

    def test_events_are_the_same_however_the_bytes_are_cut(self) -> None:
        for size in range(1, len(self.text) + 1):
            parser = EventParser()
            seen = [event for at in range(0, len(self.text), size) for event in parser.feed(self.text[at : at + size])]
            self.assertEqual(seen, self.events, size)

    def test_data_that_is_not_json_is_an_error(self) -> None:
        with self.assertRaises(AgentRunError):
            EventParser().feed(b"data: <html>\n\n")

    def test_positions(self) -> None:
        position = Position(4, dense=True)
        self.assertFalse(position.is_new(ServerEvent(4, "log", {})))
        self.assertTrue(position.is_new(ServerEvent(5, "log", {})))
        self.assertTrue(position.is_new(ServerEvent(None, "tool", {})))
        with self.assertRaises(Gap):
            position.is_new(ServerEvent(7, "log", {}))
        self.assertTrue(Position(4, dense=False).is_new(ServerEvent(9, "event", {})))
