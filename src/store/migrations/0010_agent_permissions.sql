-- What agents of other vendors get at most when they request a permission; null: what is set for the agent.

alter table organizations add column agent_permissions text check (agent_permissions in ('allow', 'ask', 'deny'));
