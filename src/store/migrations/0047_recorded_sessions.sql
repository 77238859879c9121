-- Sessions of coding agents outside this service that report their logs here: each is recorded in one run (decisions §253).
create table recorded_sessions (
  organization_id bigint not null references organizations (id),
  user_id bigint not null references users (id),
  -- The name that the reporting client chose; unique for its user only.
  session_id text not null,
  run_id bigint not null,
  -- JSON: tool calls whose results have not been reported yet.
  open_calls text not null default '[]',
  -- The newest answer of the current turn.
  answer text not null default '',
  primary key (organization_id, user_id, session_id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create unique index recorded_sessions_run on recorded_sessions (organization_id, run_id);
