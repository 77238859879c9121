-- The journal records the session of a program to which a prompt is sent, so that a later process can continue it.
-- Not valid: every row satisfies the constraint, because it only has one more kind, and a large table need not be read.

alter table journal drop constraint journal_kind_check, add constraint journal_kind_check check (kind in ('message', 'model_started', 'model_answered', 'model_failed', 'tool_started', 'tool_finished', 'compacted', 'recovered', 'commit_started', 'push_started', 'set_up', 'checks_judged', 'aside_started', 'aside_ended', 'prompt_started')) not valid;
