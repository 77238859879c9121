"""What the calls about runs of both clients share."""

from __future__ import annotations

from dataclasses import replace

from agentrun.call import Call, whole_body
from agentrun.errors import AgentRunError
from agentrun.models.agents import AgentRunWithLogsResponse
from agentrun.operations import agents


def patch_call(agent_run_id: int) -> Call[bytes]:
    call = agents.get_agent_run_diff(agent_run_id, format="patch")
    return replace(call, read=whole_body, accept="*/*")  # type: ignore[arg-type]


def next_logs(page: AgentRunWithLogsResponse, query: agents.GetAgentRunLogsQuery) -> agents.GetAgentRunLogsQuery | None:
    """Returns the position of the page after this one; None when there is none."""
    if not page.logs or len(page.logs) < page.size:
        return None
    position = query.copy()
    position.update({"skip": None})
    position.update({"before_seq": page.logs[-1].seq} if query.get("reverse") else {"after_seq": page.logs[-1].seq})
    return position


def refuses_streams(error: AgentRunError) -> bool:
    """Also where the run itself cannot be read: then the first poll reports it."""
    unexpected = error.code == "unexpected" and error.status == 200
    return error.code == "stream_blocked" or unexpected or (error.status >= 400 and error.status not in (401, 429))


def too_late(agent_run_id: int) -> AgentRunError:
    return AgentRunError(f"Run {agent_run_id} is still active. It continues.", code="timeout")
