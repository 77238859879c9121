"""Agents and their tasks, at the import paths of the Codegen SDK."""

from codegen.agents.agent import Agent as Agent
