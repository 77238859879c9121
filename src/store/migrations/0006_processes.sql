-- The processes of the service, as they report themselves. Which ones there are, and whether they fit together, is checked by doctor and health.
create table processes (
  id text primary key,
  role text not null,
  host text not null,
  pid int not null,
  version text not null,
  -- The newest migration that its code knows.
  newest_migration text not null,
  folder_id text not null,
  -- Of the key that it seals secrets with; not the key.
  key_id text not null,
  -- Null: it has no AGENTRUN_BASE_URL.
  base_url text,
  -- How far its clock is ahead of the database's, in ms, beyond what the time of a statement explains.
  clock_ahead_ms bigint not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
