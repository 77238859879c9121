"""`Agent` and `AgentTask` with the methods of the Codegen SDK, sent by the client of the Agent Run Service."""

from __future__ import annotations

import os
from typing import Any

from agentrun import AgentRunError, Client
from agentrun.models import AgentRun

from codegen.agents.constants import CODEGEN_BASE_API_URL
from codegen.agents.status import TaskStatus
from codegen.exceptions import CodegenError, error_of


class AgentTask:
    """A run of an agent, as it was when it was last refreshed."""

    def __init__(self, run: AgentRun, agent: Agent) -> None:
        self.id: int = run.id
        self.org_id = agent.org_id
        self.web_url: str | None = run.web_url
        self.status: TaskStatus | None = None
        self.result: str | None = None
        self.status_reason: str | None = None
        self._agent = agent
        self._read(run)

    def refresh(self) -> None:
        """Reads status and result again. Raises CodegenError."""
        self._read(self._agent.read_run(self.id))

    def is_completed(self) -> bool:
        """Returns whether the task has ended, well or not."""
        return self.status in ["completed", "failed", "cancelled"]

    def is_running(self) -> bool:
        return self.status in ["running", "pending"]

    def is_successful(self) -> bool:
        """Returns whether the task is completed and did everything that was requested; `status_reason` names what it did not do."""
        return self.status == "completed" and self.status_reason is None

    def is_failed(self) -> bool:
        return self.status == "failed"

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "org_id": self.org_id, "status": self.status, "result": self.result, "web_url": self.web_url}

    def _read(self, run: AgentRun) -> None:
        self.status = None if run.status is None else TaskStatus(run.status)
        self.result = run.result
        # Other services send none.
        self.status_reason = run.to_json().get("status_reason")


class Agent:
    """Starts agents in one organization. `org_id` is CODEGEN_ORG_ID or 1 without one, `base_url` CODEGEN_API_BASE_URL or this machine."""

    def __init__(self, token: str | None, org_id: int | str | None = None, base_url: str | None = None) -> None:
        self.token = token
        self.org_id = org_id or int(os.environ.get("CODEGEN_ORG_ID", "1"))
        self.base_url = base_url or CODEGEN_BASE_API_URL
        self.current_job: AgentTask | None = None
        self._client: Client | None = None

    def run(self, prompt: str) -> AgentTask:
        """Starts an agent with this prompt. Raises CodegenError."""
        try:
            task = AgentTask(self._connected().runs.create(prompt=prompt), self)
        except AgentRunError as error:
            raise error_of(error) from error
        self.current_job = task
        return task

    def get_status(self) -> dict[str, Any] | None:
        """Returns the current state of the last task; None before the first one."""
        if self.current_job is None:
            return None
        self.current_job.refresh()
        return {name: value for name, value in self.current_job.to_dict().items() if name != "org_id"}

    def get_task(self, task_id: int | str) -> AgentTask:
        """Returns a task by its id. Raises CodegenError."""
        return AgentTask(self.read_run(int(task_id)), self)

    def read_run(self, agent_run_id: int) -> AgentRun:
        try:
            return self._connected().runs.get(agent_run_id)
        except AgentRunError as error:
            raise error_of(error) from error

    def _connected(self) -> Client:
        """The client, created at the first request, so that an Agent can be created with placeholders as in the samples."""
        if self._client is None:
            try:
                self._client = Client(self.base_url, self.token, organization_id=int(self.org_id))
            except ValueError as error:
                raise CodegenError(str(error)) from error
        return self._client
