"""Published code for the Codegen SDK, with only the address changed: the patterns that its users wrote (specification.md#wire-profiles)."""

import os
import time
import unittest
from unittest.mock import patch

import codegen
from codegen import Agent
from codegen.agents.agent import Agent as AgentOfModule
from codegen.agents.agent import AgentTask
from codegen.agents.status import TaskStatus
from codegen.exceptions import APIError, AuthenticationError, AuthorizationError, CodegenError, NotFoundError, RateLimitError, ServerError
from faults import FaultServer, Reply

URL = os.environ["AGENTRUN_URL"]
TOKEN = os.environ["CODEGEN_TOKEN"]
ANSWERS = "Play.\n\n```playbook\n- run: echo one\n- answer: Done.\n```\n"
FAILS = "Play.\n\n```playbook\n- run: exit 3\n- answer: Done.\n```\n"


def poll(task: AgentTask, ended: list[str]) -> None:
    for _ in range(600):
        if task.status in ended:
            return
        time.sleep(0.1)
        task.refresh()
    raise AssertionError(f"the task has not ended: {task.status}")


class PublishedCode(unittest.TestCase):
    def agent(self) -> Agent:
        return Agent(org_id="1", token=TOKEN, base_url=URL)

    def test_the_documented_sample_polls_until_completed(self) -> None:
        task = self.agent().run(prompt=ANSWERS)
        self.assertIn(task.status, ["ACTIVE", "PENDING"])
        poll(task, ["completed", "failed"])
        self.assertTrue(task.status == "completed")
        self.assertEqual(task.result, "Done.")
        self.assertIn(f"/agent/trace/{task.id}", task.web_url or "")

    def test_code_that_knows_the_statuses_of_the_api_works_too(self) -> None:
        task = self.agent().run(ANSWERS)
        poll(task, ["COMPLETE", "ERROR", "FAILED"])
        self.assertEqual((str(task.status), f"{task.status}", task.status.lower() if task.status else ""), ("COMPLETE", "COMPLETE", "complete"))

    def test_a_task_that_fails_is_failed_by_every_word(self) -> None:
        task = self.agent().run(FAILS)
        poll(task, ["completed", "failed", "cancelled"])
        self.assertEqual((task.is_completed(), task.is_failed(), task.is_successful(), task.is_running()), (True, True, False, False))
        self.assertTrue(task.status == "ERROR" and task.status != "completed")

    def test_the_state_of_the_last_task_is_a_dict_and_tasks_are_found_by_id(self) -> None:
        agent = self.agent()
        self.assertIsNone(agent.get_status())
        task = agent.run(ANSWERS)
        status = agent.get_status() or {}
        self.assertEqual((sorted(status), status["id"]), (["id", "result", "status", "web_url"], task.id))
        self.assertEqual(agent.get_task(str(task.id)).to_dict()["org_id"], "1")

    def test_errors_have_the_classes_of_the_sdk(self) -> None:
        with self.assertRaises(NotFoundError) as caught:
            self.agent().get_task(424_242)
        self.assertEqual((caught.exception.status_code, caught.exception.response_data["status_code"]), (404, 404))
        with self.assertRaises(AuthenticationError):
            Agent(token="sk-0a1b", org_id=1, base_url=URL).run(prompt="x")
        with self.assertRaises(AuthorizationError):
            Agent(token=TOKEN, org_id=4_242, base_url=URL).run(prompt="x")
        # Without the pauses between attempts, which the tests of the client check.
        self.enterContext(patch("agentrun.retrying.FIRST_DELAY_SECONDS", 0.0))
        for token, url, kind in ((TOKEN, "http://127.0.0.1:9", APIError), ("YOUR API TOKEN", URL, CodegenError)):
            agent = Agent(token=token, org_id=1, base_url=url)
            with self.assertRaises(kind):
                agent.run(prompt="x")

    def test_refusals_and_failures_of_the_service_have_their_classes_and_a_new_status_is_kept(self) -> None:
        self.enterContext(patch("agentrun.retrying.FIRST_DELAY_SECONDS", 0.0))
        for status, headers, kind in ((429, {"retry-after": "61"}, RateLimitError), (429, {}, RateLimitError), (503, {}, ServerError), (200, {}, APIError)):
            with FaultServer(Reply(status, b"<html>", headers)) as server, self.assertRaises(kind):
                Agent(token="x", org_id=1, base_url=server.url).run(prompt="x")
        newer = {"id": 7, "organization_id": 1, "status": "HIBERNATING", "web_url": None, "result": None, "mood": "good"}
        with FaultServer(Reply(body=newer)) as server:
            task = Agent(token="x", org_id=1, base_url=server.url).run(prompt="x")
            task.refresh()
            self.assertEqual((task.status, task.is_running(), task.is_completed()), ("HIBERNATING", False, False))

    def test_the_import_paths_are_those_of_the_sdk(self) -> None:
        self.assertIs(AgentOfModule, Agent)
        self.assertTrue(codegen.__version__)
        with self.assertRaises(TypeError):
            Agent()  # type: ignore[call-arg]

    def test_organization_and_address_come_from_the_environment(self) -> None:
        os.environ["CODEGEN_ORG_ID"] = "17"
        try:
            self.assertEqual(Agent(token="x").org_id, 17)
        finally:
            del os.environ["CODEGEN_ORG_ID"]
        self.assertEqual((Agent("x", 5).org_id, Agent(token="x").org_id), (5, 1))


class Statuses(unittest.TestCase):
    def test_a_status_equals_its_word_of_the_samples_and_no_other(self) -> None:
        status = TaskStatus("COMPLETE")
        self.assertTrue(status == "COMPLETE" and status == "completed" and "completed" == status)
        self.assertFalse(status != "completed" or status == "failed" or status == "complete" or status == 1)
        self.assertIn(status, {"COMPLETE"})
        self.assertEqual(TaskStatus("new"), "new")
