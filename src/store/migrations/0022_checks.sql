-- Commands that say of a commit of a repository whether it is good; no row: there are none.
create table check_commands (
  organization_id bigint not null references organizations,
  repository_id bigint not null,
  -- A list of {name, command, timeout_seconds} as JSON text.
  checks text not null,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  primary key (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- What checks have said of commits: one row for a check of a commit, which the next attempt of it replaces.
create table checks (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  repository_id bigint not null,
  head_sha text not null,
  -- Who ran it: this service, or the forge that told of it.
  source text not null check (source in ('local', 'github', 'gitea')),
  name text not null,
  -- The app of the forge that ran it.
  app text,
  status text not null check (status in ('queued', 'in_progress', 'completed')),
  conclusion text check (conclusion in
    ('success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required', 'startup_failure', 'stale')),
  url text,
  log_excerpt text,
  attempt int not null check (attempt > 0),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  primary key (organization_id, id),
  unique (organization_id, repository_id, head_sha, source, name),
  foreign key (organization_id, repository_id) references repositories (organization_id, id),
  check ((status = 'completed') = (conclusion is not null))
);
create index checks_by_name on checks (organization_id, repository_id, name);

-- Runs that wait for checks of a commit are found by it.
create index runs_waiting_for_checks on runs (organization_id, repository_id, pushed_sha) where status = 'waiting' and waiting_on = 'ci';

-- What came of the checks of a turn. Not checked against the rows that are there: they met a narrower rule.
alter table journal drop constraint journal_kind_check, add constraint journal_kind_check check (kind in
  ('message', 'model_started', 'model_answered', 'model_failed', 'tool_started', 'tool_finished', 'compacted', 'recovered',
   'commit_started', 'push_started', 'set_up', 'checks_judged')) not valid;
