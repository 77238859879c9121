"""Runs, lists and traces, with both clients and the running service."""

import unittest
import uuid

from agentrun import AgentRunError, LogEvent, is_at_rest
from agentrun import operations as op
from service import CODEGEN_TOKEN, TIMEOUT, async_client, client, playbook

ANSWERS = playbook("run: echo one", "answer: Done.")
ASKS = playbook("ask: Which name?", "answer: Thank you.")


class Runs(unittest.TestCase):
    def test_a_run_is_created_waited_for_and_read(self) -> None:
        with client() as agents:
            run = agents.runs.create(prompt=ANSWERS, tags=["python"], metadata={"items": 1})
            self.assertIn("/agent/trace/", run.web_url)
            self.assertIs(run.wait(timeout=TIMEOUT), run)
            self.assertEqual((run.status, run.terminal, run.result, run.metadata), ("completed", True, "Done.", {"items": 1}))
            entries = list(run.logs(limit=2))
            self.assertEqual([entry.seq for entry in entries], list(range(1, run.total_logs + 1)))
            self.assertEqual(entries[-1].message_type, "FINAL_ANSWER")
            self.assertEqual([entry.tool_output["output"] for entry in run.logs(message_type="ACTION") if entry.tool_name == "shell"], ["one\n"])
            self.assertEqual([entry.seq for entry in run.logs(reverse=True, limit=2)], list(range(run.total_logs, 0, -1)))

    def test_a_run_that_asks_is_at_rest_and_its_resume_is_waited_for(self) -> None:
        with client() as agents:
            run = agents.runs.create(prompt=ASKS).wait(timeout=TIMEOUT)
            self.assertEqual((run.waiting_on, is_at_rest(run), run.terminal), ("user_input", True, False))
            self.assertEqual(run.resume("Ada").wait(timeout=TIMEOUT).result, "Thank you.")

    def test_the_changes_of_a_run_are_read_as_json_and_as_a_patch(self) -> None:
        with client() as agents:
            run = agents.runs.create(prompt=playbook('write: { path: PYTHON.md, content: "Checked.\\n" }', "answer: Done.")).wait(timeout=TIMEOUT)
            self.assertEqual([file.path for file in run.diff().files], ["PYTHON.md"])
            self.assertIn("+++ b/PYTHON.md", run.patch())
            self.assertEqual(run.github_pull_requests[0].state, "open")

    def test_a_run_is_paused_stopped_and_forked(self) -> None:
        with client() as agents:
            run = agents.runs.create(prompt=ASKS).wait(timeout=TIMEOUT)
            self.assertEqual(run.pause().wait(timeout=TIMEOUT).status, "paused")
            self.assertEqual(run.stop().wait(timeout=TIMEOUT, until="end").status, "cancelled")
            self.assertNotEqual(run.fork(1).stop().id, run.id)

    def test_a_dry_run_creates_nothing(self) -> None:
        with client() as agents:
            before = agents.runs.list(limit=1).first().total
            self.assertEqual(agents.runs.dry_run(prompt=ANSWERS).model, "scripted/playbook")
            self.assertEqual(agents.runs.list(limit=1).first().total, before)

    def test_a_key_names_a_create_so_that_a_repetition_returns_the_same_run(self) -> None:
        with client() as agents:
            key = str(uuid.uuid4())
            ids = {agents.runs.create(prompt=ASKS, idempotency_key=key).id for _ in range(2)}
            self.assertEqual(len(ids), 1)
            self.assertNotEqual(agents.runs.create(prompt=ASKS).id, ids.pop())

    def test_a_list_is_walked_by_cursor_while_runs_are_added(self) -> None:
        with client() as agents:
            tag = str(uuid.uuid4())
            made = [agents.runs.create(prompt=ASKS, tags=[tag]).id for _ in range(5)]
            seen = []
            for run in agents.runs.list(tag=tag, limit=2):
                seen.append(run.id)
                if len(seen) == 2:
                    agents.runs.create(prompt=ASKS, tags=[tag])
            self.assertEqual(sorted(seen), made)
            self.assertEqual([len(page.items) for page in agents.runs.list(tag=tag, limit=4).pages()], [4, 2])
            self.assertEqual([run.id for run in agents.pages(op.list_agent_runs(tag=tag, limit=2))][-1], made[0])

    def test_every_operation_can_be_called(self) -> None:
        with client() as agents:
            self.assertEqual(agents.send(op.get_health()).status, "ok")
            self.assertEqual([organization.id for organization in agents.organizations()], [1])
            self.assertEqual([repository.id for repository in agents.repositories()], [1])
            self.assertEqual(agents.send(op.get_usage(from_="2026-01-01", group_by="day")).to_json()["from"], "2026-01-01")

    def test_the_only_organization_of_the_token_is_found(self) -> None:
        with client() as agents:
            agents._organization_id = None
            self.assertEqual(agents.organization(), 1)

    def test_a_refusal_names_the_fields(self) -> None:
        with client() as agents, self.assertRaises(AgentRunError) as caught:
            agents.send(op.list_agent_runs(limit=101))
        error = caught.exception
        self.assertEqual((error.status, error.code, [one.loc for one in error.errors]), (400, "invalid_request", [["query", "limit"]]))
        self.assertTrue(error.request_id)

    def test_a_wait_ends_with_its_timeout_and_the_run_continues(self) -> None:
        with client() as agents:
            run = agents.runs.create(prompt=ASKS)
            with self.assertRaises(AgentRunError) as caught:
                run.wait(timeout=0, until=lambda _run: False)
            self.assertEqual(caught.exception.code, "timeout")
            self.assertEqual(run.refresh().wait(timeout=TIMEOUT).waiting_on, "user_input")

    def test_statuses_of_the_profile_codegen_end_a_wait(self) -> None:
        with client(token=CODEGEN_TOKEN) as agents:
            self.assertEqual(agents.runs.create(prompt=ANSWERS).wait(timeout=TIMEOUT).status, "COMPLETE")


class AsyncRuns(unittest.IsolatedAsyncioTestCase):
    async def test_a_run_is_created_followed_waited_for_and_read(self) -> None:
        async with async_client() as agents:
            run = await agents.runs.create(prompt=ANSWERS)
            followed = [event.entry.seq async for event in run.follow() if isinstance(event, LogEvent)]
            await run.wait(timeout=TIMEOUT)
            self.assertEqual((run.status, run.result), ("completed", "Done."))
            self.assertEqual(followed, [entry.seq async for entry in run.logs(limit=2)])
            self.assertIn(run.id, [one.id async for one in agents.runs.list(limit=3)])
            self.assertEqual((await agents.runs.list(limit=1).first()).size, 1)

    async def test_the_organization_reports_every_run(self) -> None:
        async with async_client() as agents:
            created = None
            async for event in agents.runs.events(after_seq=0):
                created = created or await agents.runs.create(prompt=ANSWERS)
                if event.agent_run_id == created.id:
                    self.assertEqual(event.run and event.run.id, created.id)
                    return

    async def test_a_refusal_is_an_error(self) -> None:
        async with async_client() as agents:
            with self.assertRaises(AgentRunError) as caught:
                await agents.runs.get(424_242)
            self.assertEqual(caught.exception.code, "not_found")
