"""The module `codegen` of the Codegen SDK, for the Agent Run Service: `from codegen import Agent` works unchanged."""

from codegen._version import __version__ as __version__
from codegen.agents.agent import Agent as Agent
from codegen.agents.agent import AgentTask as AgentTask
