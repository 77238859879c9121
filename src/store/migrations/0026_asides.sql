-- Questions to a model besides the conversation. Not checked against the rows that are there: they met a narrower rule.
alter table journal drop constraint journal_kind_check, add constraint journal_kind_check check (kind in
  ('message', 'model_started', 'model_answered', 'model_failed', 'tool_started', 'tool_finished', 'compacted', 'recovered',
   'commit_started', 'push_started', 'set_up', 'checks_judged', 'aside_started', 'aside_ended')) not valid;
