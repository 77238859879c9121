-- Every table of a tenant carries organization_id, and every statement on it filters by it.

create table organizations (
  id bigint generated always as identity primary key,
  name text not null,
  enable_pr_creation boolean not null default true,
  enable_rules_detection boolean not null default true,
  default_repository_id bigint,
  -- Last number given in `events`: the order of everything that happened to this organization's runs.
  event_seq bigint not null default 0,
  created_at timestamptz not null default now()
);

create table users (
  id bigint generated always as identity primary key,
  email text,
  full_name text,
  github_user_id text not null default '',
  github_username text not null default '',
  avatar_url text,
  created_at timestamptz not null default now()
);

create table memberships (
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  role text not null check (role in ('ADMIN', 'MANAGER', 'MEMBER', 'READER')),
  primary key (organization_id, user_id)
);

create table tokens (
  id bigint generated always as identity primary key,
  user_id bigint not null references users,
  kind text not null check (kind in ('personal', 'browser')),
  name text not null,
  digest bytea not null unique,
  wire_profile text not null default 'standard' check (wire_profile in ('standard', 'codegen')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index tokens_expired on tokens (expires_at) where kind = 'browser';

create table sign_in_links (
  digest bytea primary key,
  user_id bigint not null references users,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table browser_sessions (
  digest bytea primary key,
  user_id bigint not null references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create table repositories (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  name text not null,
  full_name text not null,
  url text not null,
  kind text not null check (kind in ('https', 'http', 'ssh', 'local')),
  description text,
  language text,
  visibility text,
  default_branch text,
  sample boolean not null default false,
  archived boolean not null default false,
  setup_status text not null default 'NOT_SETUP',
  pull_request_count int not null default 0,
  created_at timestamptz not null default now(),
  unique (organization_id, url)
);
alter table organizations add foreign key (default_repository_id) references repositories;

create table runs (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  repository_id bigint references repositories,

  status text not null check (status in ('queued', 'starting', 'running', 'waiting', 'paused', 'cancelling', 'completed', 'failed', 'cancelled')),
  status_reason text,
  phase text,
  waiting_on text,
  -- From when a worker may claim the run; null while nobody may.
  runnable_at timestamptz default now(),
  -- Ownership: a write of a worker names the epoch it claimed, and a stale one changes nothing.
  epoch int not null default 0,
  owner text,
  lease_until timestamptz,
  stop_requested_at timestamptz,
  stop_requested_by bigint references users,
  interrupt_requested boolean not null default false,

  source_type text not null,
  agent_type text not null,
  model text not null,
  prompt text not null,
  title text not null,
  tags text[] not null default '{}',
  metadata text,
  webhooks text,
  archived boolean not null default false,
  base_ref text,
  base_sha text,
  branch text,
  head_sha text,
  auto_create_pr boolean not null default true,
  parent_run_id bigint references runs,
  forked_at_seq int,
  workspace text,
  workspace_host text,

  result text not null default '',
  error_code text,
  error_message text,

  turn int not null default 1,
  -- Counters that give the next position; only the statement that appends moves them.
  total_logs int not null default 0,
  journal_count int not null default 0,
  pending_messages int not null default 0,

  steps int not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  cost_known boolean not null default true,
  active_ms bigint not null default 0,
  budget_max_cost_usd numeric,
  budget_max_steps int,
  budget_max_active_seconds int,
  budget_max_wall_seconds int,

  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  turn_started_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  last_progress_at timestamptz not null default now(),
  deadline_at timestamptz,

  -- A live status has a lease or can be claimed, a waiting one may rest, a finished one can not move by itself.
  check (status not in ('starting', 'running', 'cancelling') or lease_until is not null),
  check (status <> 'queued' or runnable_at is not null),
  check (status not in ('completed', 'failed', 'cancelled', 'paused') or (lease_until is null and runnable_at is null))
) with (fillfactor = 70);
create index runs_runnable on runs (runnable_at, id) where runnable_at is not null;
create index runs_leased on runs (lease_until) where lease_until is not null;
create index runs_of_organization on runs (organization_id, id desc);
create index runs_workspaces on runs (finished_at) where workspace is not null;

-- The trace. `body` is the entry as it goes over the wire: text, because jsonb refuses \u0000 and lone surrogates.
create table log_entries (
  run_id bigint not null references runs,
  seq int not null,
  organization_id bigint not null,
  turn int not null,
  message_type text not null,
  tool_name text,
  created_at timestamptz not null default now(),
  body text not null,
  primary key (run_id, seq)
);

-- What the loop is rebuilt from: messages delivered, model answers, tools started and finished.
create table journal (
  run_id bigint not null references runs,
  n int not null,
  organization_id bigint not null,
  turn int not null,
  epoch int not null,
  kind text not null check (kind in ('message', 'model_started', 'model_answered', 'tool_started', 'tool_finished', 'compacted')),
  key text,
  body text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, n)
);

-- What people send to a run. Undelivered ones wait here for the next model call, or for the next turn.
create table messages (
  id bigint generated always as identity primary key,
  run_id bigint not null references runs,
  organization_id bigint not null,
  seq int not null,
  turn int,
  mode text not null check (mode in ('prompt', 'steer', 'enqueue', 'interrupt', 'answer')),
  text text not null,
  images text,
  user_id bigint references users,
  created_at timestamptz not null default now(),
  delivered_at timestamptz
);
create index messages_waiting on messages (run_id, id) where delivered_at is null;

create table changes (
  run_id bigint primary key references runs,
  organization_id bigint not null,
  base_sha text not null,
  head_sha text not null,
  files_changed int not null,
  additions int not null,
  deletions int not null,
  files text not null,
  patch text not null,
  patch_truncated boolean not null,
  updated_at timestamptz not null default now()
);

create table pull_requests (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  repository_id bigint not null references repositories,
  run_id bigint not null references runs,
  number int not null,
  state text not null check (state in ('open', 'closed', 'merged', 'draft')),
  title text not null,
  body text not null,
  url text not null,
  head_branch text not null,
  base_branch text not null,
  base_sha text not null,
  head_sha text not null,
  files_changed int not null,
  additions int not null,
  deletions int not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (repository_id, number),
  -- One pull request for a branch, whatever fails in between.
  unique (repository_id, head_branch)
);
create index pull_requests_of_run on pull_requests (run_id);

create table events (
  organization_id bigint not null references organizations,
  seq bigint not null,
  run_id bigint not null references runs,
  type text not null,
  body text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, seq)
);
