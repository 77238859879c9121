"""Client of the Agent Run Service: `Client` and `AsyncClient`, every operation in `agentrun.operations`, every type in `agentrun.models`."""

from agentrun._version import __version__ as __version__
from agentrun.async_client import AsyncClient as AsyncClient
from agentrun.async_pages import AsyncPages as AsyncPages
from agentrun.async_runs import AsyncRun as AsyncRun
from agentrun.call import Call as Call
from agentrun.client import Client as Client
from agentrun.errors import AgentRunError as AgentRunError
from agentrun.follow import FollowEvent as FollowEvent
from agentrun.follow import LogEvent as LogEvent
from agentrun.follow import OrganizationEvent as OrganizationEvent
from agentrun.follow import RunEvent as RunEvent
from agentrun.follow import TransientEvent as TransientEvent
from agentrun.follow import has_succeeded as has_succeeded
from agentrun.follow import is_at_rest as is_at_rest
from agentrun.model import Model as Model
from agentrun.pages import Pages as Pages
from agentrun.runs import Run as Run
