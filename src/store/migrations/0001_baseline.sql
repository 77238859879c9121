-- The schema of version 0.1.0. Until 0.1.0 is released it may be edited in place; afterwards it never changes again.
--
-- Every table of a tenant carries organization_id, and every statement on it filters by it.
-- Ids, times and money: bigint identities, timestamptz, numeric US dollars. `text` columns that hold JSON say so.

-- Organizations and people
-- ------------------------

create table organizations (
  id bigint generated always as identity primary key,
  name text not null,
  enable_pr_creation boolean not null default true,
  enable_rules_detection boolean not null default true,
  default_repository_id bigint,
  -- The last `events.seq` of this organization.
  event_seq bigint not null default 0,
  created_at timestamptz not null default now(),
  default_model text,
  -- How much models think; null: the default of the model.
  reasoning_effort text check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  -- Who reviews changes; null: the default of the service.
  review text check (review in ('model', 'rules')),
  rules text,
  -- The largest number of runs that may be active at the same time; null: unlimited.
  max_concurrent_runs int check (max_concurrent_runs > 0),
  -- Limits per calendar month (UTC); null: unlimited.
  budget_usd_per_month numeric check (budget_usd_per_month >= 0),
  runs_per_month int check (runs_per_month >= 0)
);

create table users (
  id bigint generated always as identity primary key,
  email text check (email = lower(email)),
  full_name text,
  github_user_id text not null default '',
  github_username text not null default '',
  avatar_url text,
  created_at timestamptz not null default now(),
  kind text not null default 'person' check (kind in ('person', 'service')),
  service_organization_id bigint references organizations,
  -- Instructions that the user gives to the agents of their runs.
  custom_prompt text,
  last_sign_in_at timestamptz,
  -- When `custom_prompt` was set. It applies only in organizations that the user had joined by then: a person who is added to another
  -- organization must not bring text that somebody else planted. Null: it applies in no organization.
  custom_prompt_set_at timestamptz,
  check ((kind = 'service') = (service_organization_id is not null)),
  check (kind = 'person' or (email is null))
);
create unique index users_email on users (email);

create table memberships (
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  role text not null check (role in ('ADMIN', 'MANAGER', 'MEMBER', 'READER')),
  created_at timestamptz not null default now(),
  email text check (email = lower(email)),
  accepted_at timestamptz default clock_timestamp(),
  login_id uuid,
  -- The GitHub account by which this organization knows the member; null: the one that the user named. For display only, it grants nothing.
  github_username text,
  github_user_id text,
  -- Identifies the acceptance of the invitation. A credential that is older than the membership reaches it only if its `acceptances`
  -- contain this id.
  acceptance_id uuid not null default gen_random_uuid(),
  primary key (organization_id, user_id)
);
-- An organization knows a member by one address.
create unique index memberships_email on memberships (organization_id, email);
create index memberships_of_user on memberships (user_id);

-- Open invitations. Accepting, revoking or replacing one deletes its row; the audit log keeps its history.
create table invitations (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  email text not null check (email = lower(email)),
  full_name text,
  role text not null check (role in ('ADMIN', 'MANAGER', 'MEMBER', 'READER')),
  digest bytea not null unique,
  created_by bigint references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (organization_id, email)
);

create table tokens (
  id bigint generated always as identity primary key,
  user_id bigint not null references users,
  kind text not null check (kind in ('personal', 'service', 'browser')),
  name text not null,
  digest bytea not null unique,
  wire_profile text not null default 'standard' check (wire_profile in ('standard', 'codegen')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  organization_id bigint references organizations,
  scopes text[],
  repository_ids bigint[],
  -- The last four characters, so that its owner can recognize it.
  hint text not null default '',
  last_used_at timestamptz,
  created_by bigint references users,
  -- The part before the secret, so that its owner can recognize its kind; empty if the operator chose the token.
  prefix text not null default '',
  -- A login is one proof that a person controls the account. Sessions, browser tokens and links that are derived from it keep its id and time.
  login_id uuid not null default gen_random_uuid(),
  login_at timestamptz,
  -- `memberships.acceptance_id` of the invitations that this credential accepted after its login.
  acceptances uuid[] not null default '{}',
  -- The session that a browser token belongs to; null for other tokens.
  session_digest bytea,
  check ((repository_ids is null) or (organization_id is not null))
);
create index tokens_expired on tokens (expires_at) where kind = 'browser';
create index tokens_of_organization on tokens (organization_id, id) where organization_id is not null;
create index tokens_of_user on tokens (user_id, id);

create table sign_in_links (
  digest bytea primary key,
  user_id bigint not null references users,
  expires_at timestamptz not null,
  used_at timestamptz,
  login_id uuid not null default gen_random_uuid(),
  login_at timestamptz,
  acceptances uuid[] not null default '{}'
);
create index sign_in_links_of_user on sign_in_links (user_id);

create table browser_sessions (
  digest bytea primary key,
  user_id bigint not null references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  login_id uuid not null default gen_random_uuid(),
  login_at timestamptz,
  acceptances uuid[] not null default '{}'
);

-- Sliding windows of the rate limits: times in microseconds since 1970, and how many requests each counts. Written by `charge`.
create table rate_windows (
  subject text not null,
  bucket text not null,
  hits bigint[] not null default '{}',
  counts int[] not null default '{}',
  primary key (subject, bucket)
);

-- Responses to requests with an Idempotency-Key. A row without a response: the request is being executed, or its process died.
create table idempotency_keys (
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  key text not null,
  created_at timestamptz not null default now(),
  request_digest bytea,
  answer text,
  primary key (organization_id, user_id, key)
);
create index idempotency_keys_old on idempotency_keys (created_at);

-- The audit log. Rows are inserted and read, never updated.
create table audit_entries (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  created_at timestamptz not null default now(),
  user_id bigint references users,
  token_id bigint,
  action text not null,
  target_type text not null,
  target_id text,
  detail text not null,
  request_id text,
  primary key (organization_id, id)
);

-- Usage per run, day (UTC) and model. It has no foreign key to runs: deleting a run does not refund its cost.
create table usage_days (
  organization_id bigint not null references organizations,
  day date not null,
  run_id bigint not null,
  model text not null,
  user_id bigint not null,
  repository_id bigint,
  -- Runs created (1 or 0), and turns that ended with each status.
  runs int not null default 0,
  completed int not null default 0,
  failed int not null default 0,
  cancelled int not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  cost_known boolean not null default true,
  active_ms bigint not null default 0,
  primary key (organization_id, day, run_id, model)
);

-- Repositories
-- ------------

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
  removed_at timestamptz,
  base_branch text,
  -- Null: as the organization's.
  reasoning_effort text check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  -- Null: as the organization's.
  review text check (review in ('model', 'rules')),
  -- When the service last polled the forge for mentions; null: never.
  forge_seen_at timestamptz,
  -- Up to when the forge was polled for mentions, by the forge's clock; null: never.
  forge_seen_until timestamptz,
  -- Mentions before this time are ignored: they were delivered by webhook, or are older than the connection.
  mentions_since timestamptz not null default now()
);
create unique index repositories_key on repositories (organization_id, id);
create unique index repositories_url on repositories (organization_id, url) where removed_at is null;

-- Secrets of organizations and repositories. `sealed` is encrypted with the key `key_id` and bound to organization, repository and name.
create table secrets (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  -- Null: it applies to the whole organization.
  repository_id bigint,
  name text not null,
  for_agent boolean not null default false,
  key_id text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  unique nulls not distinct (organization_id, repository_id, name),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- Models and providers of an organization, by `provider/model` or `provider`. `settings` is JSON; the key is a secret of the organization.
create table organization_models (
  organization_id bigint not null references organizations,
  id text not null,
  settings text not null,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  primary key (organization_id, id)
);

-- Skills of an organization. `content` is the whole SKILL.md, `description` that of its front matter.
create table skills (
  organization_id bigint not null references organizations,
  name text not null,
  description text not null,
  content text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  primary key (organization_id, name)
);

-- Network access of sandboxes. The hosts of a repository are added to those of its organization.
create table egress (
  organization_id bigint not null references organizations,
  -- Null: it applies to the whole organization.
  repository_id bigint,
  -- Null: inherited from the organization, or else from the service.
  mode text check (mode in ('off', 'allowlist')),
  -- Lists as JSON.
  allow text not null,
  presets text not null,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  -- The mode while setup commands run; null: inherited.
  setup_mode text check (setup_mode in ('off', 'allowlist', 'open')),
  unique nulls not distinct (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- Commands that prepare the sandbox of a repository's runs before the agent starts.
create table setup_commands (
  organization_id bigint not null references organizations,
  repository_id bigint not null,
  -- Lists and maps as JSON.
  commands text not null,
  variables text not null,
  on_failure text not null check (on_failure in ('fail', 'continue')),
  timeout_seconds int not null check (timeout_seconds > 0),
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  -- Commands for an environment that was created at another commit, as JSON.
  maintenance_commands text not null default '[]',
  primary key (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- Commands that check a commit of a repository.
create table check_commands (
  organization_id bigint not null references organizations,
  repository_id bigint not null,
  -- A list of {name, command, timeout_seconds} as JSON.
  checks text not null,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  primary key (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- How runs react to failing checks of a repository. Lists and objects are JSON; null: the default.
create table check_suite_settings (
  organization_id bigint not null,
  repository_id bigint not null,
  check_retry_count int check (check_retry_count >= 0 and check_retry_count <= 10),
  ignored_checks text,
  check_retry_counts text,
  custom_prompts text,
  high_priority_apps text,
  updated_at timestamptz not null default now(),
  primary key (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- Cached results of setup commands on one machine. The files are a template in the data folder.
create table environments (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  repository_id bigint not null,
  -- The data folder that holds the template, and the template's name there.
  folder_id text not null,
  template text not null,
  -- Digest of commands, variables, manifests, ref and toolchain.
  key text not null,
  setup_digest text not null,
  -- Digest of the names and contents of the manifests.
  manifests_digest text not null,
  base_ref text not null,
  base_sha text not null,
  -- Paths that the commands created outside of the repository's own files, as JSON.
  left_out text not null,
  -- Digest of names, types, sizes and modification times of all files, verified before an agent sees them.
  digest text not null,
  bytes bigint not null,
  setup_ms bigint not null,
  run_id bigint not null,
  made_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  uses int not null default 0,
  primary key (organization_id, id),
  unique (folder_id, template),
  unique (organization_id, repository_id, folder_id, key),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- Workers
-- -------

-- Worker processes, as their last heartbeat reported.
create table workers (
  owner text primary key,
  host text not null,
  pid int not null,
  version text not null,
  sandbox text not null,
  concurrency int not null,
  active int not null,
  blocked_reason text,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- How the worker enforces the limits of its sandboxes: JSON of memory, cpu and processes. Null: it starts no sandboxes.
  sandbox_limits text,
  -- The data folder, which no other live process uses. Not null: the process holds its session lock (src/store/leases/worker-sessions.ts).
  folder_id text
);

-- Periodic tasks that one process at a time executes, with the time of their last execution.
create table ticks (
  name text primary key,
  taken_at timestamptz not null
);

-- Workspace folders of deleted runs, which the sweep of their machine removes.
create table leftover_workspaces (
  organization_id bigint not null references organizations,
  run_id bigint not null,
  workspace text not null,
  host text not null,
  primary key (organization_id, run_id)
);
create index leftover_workspaces_of_host on leftover_workspaces (host);

-- Runs
-- ----

create table runs (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  repository_id bigint,
  status text not null check (status in ('queued', 'starting', 'running', 'waiting', 'paused', 'cancelling', 'completed', 'failed', 'cancelled')),
  status_reason text,
  phase text,
  waiting_on text,
  -- When a worker may claim the run; null: not claimable.
  runnable_at timestamptz default now(),
  -- Each claim increments the epoch. A write of a worker names its epoch, and a stale one changes no row.
  epoch int not null default 0,
  owner text,
  lease_until timestamptz,
  stop_requested_at timestamptz,
  stop_requested_by bigint references users,
  interrupt_requested boolean not null default false,
  source_type text not null,
  agent_type text not null,
  model text not null,
  -- Null: the default of the model.
  reasoning_effort text check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  -- Null: the default of the service.
  review text check (review in ('model', 'rules')),
  -- Names of tools that the agent does not get.
  tools_off text[] not null default '{}',
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
  parent_run_id bigint,
  forked_at_seq int,
  workspace text,
  workspace_host text,
  result text not null default '',
  error_code text,
  error_message text,
  turn int not null default 1,
  -- Counters that give the next position. Only the statement that appends a row changes them.
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
  -- The last commit on the remote. It differs from `head_sha` after a failed push, which the next turn repeats.
  pushed_sha text,
  -- Neither a resume nor a failed check starts a banned run again.
  banned boolean not null default false,
  -- How many branches the run abandoned, and the last commit that it pushed to one. Later commits go to a branch with a new name.
  abandoned_branches int not null default 0,
  abandoned_sha text,
  -- Total size of the run's artifacts.
  artifact_bytes bigint not null default 0,
  -- When the lease expired or the worker handed the run over; null: no recovery is pending.
  recovering_since timestamptz,
  recovery_cause text check (recovery_cause in ('lease_lost', 'handed_over')),
  -- Leases that expired in this turn.
  losses int not null default 0,
  -- The driver's reference to the last owner's sandbox. A new owner on the same machine ends it first.
  sandbox text,
  -- A pause requested while a worker owns the run. The worker releases the run, or the sweep takes it after the lease expired.
  pause_requested_at timestamptz,
  pause_requested_by bigint references users,
  -- Active time of the turn over all its owners.
  turn_active_ms bigint not null default 0,
  -- The highest possible cost of the model call in flight, until its response reports the actual cost.
  reserved_usd numeric not null default 0,
  -- The W3C Trace Context of the request that started the turn: parent of the turn's spans.
  traceparent text,
  -- The head whose push waits for approval, and the head that was approved.
  approval_sha text,
  approved_sha text,
  -- Repositories in which the agent may start child runs, limited by the tokens of its callers; null: all of its user's.
  repository_ids bigint[],
  -- A resume requested while the run is cancelling: the next turn starts when the worker released the run. A later stop revokes it.
  resume_requested_at timestamptz,
  foreign key (organization_id, repository_id) references repositories (organization_id, id),
  -- An active run has a lease, a queued one can be claimed, a finished one has neither.
  check (status not in ('starting', 'running', 'cancelling') or (lease_until is not null)),
  check (status <> 'queued' or (runnable_at is not null)),
  check (status not in ('completed', 'failed', 'cancelled', 'paused') or ((lease_until is null) and (runnable_at is null))),
  check ((recovery_cause is null) = (recovering_since is null)),
  check ((owner is null) = (lease_until is null)),
  -- What continues by itself has a deadline; what is paused, waits or failed has a reason.
  constraint runs_end_in_time check (status in ('completed', 'failed', 'cancelled', 'paused', 'cancelling') or (deadline_at is not null)),
  constraint runs_have_a_reason check (status not in ('paused', 'failed') or (status_reason is not null)),
  constraint runs_wait_for_something check ((status = 'waiting') = (waiting_on is not null))
) with (fillfactor=70);
-- For the sweep: runs without an owner whose deadline has passed.
create index runs_due on runs (deadline_at) where status in ('queued', 'waiting');
-- For retention.
create index runs_finished on runs (finished_at) where finished_at is not null;
create index runs_kept on runs (workspace_host) where (workspace is not null) and (finished_at is not null);
create unique index runs_key on runs (organization_id, id);
alter table runs add foreign key (organization_id, parent_run_id) references runs (organization_id, id) on delete set null (parent_run_id);
-- Counts the runs of a list without reading the table, whose rows hold prompts.
create index runs_listed on runs (organization_id, archived, id);
-- Counts the runs of each status that is not terminal.
create index runs_live on runs (status) where status not in ('completed', 'failed', 'cancelled');
-- Finds the run of a pull request's branch.
create index runs_of_branch on runs (organization_id, repository_id, branch) where branch is not null;
-- For deletes of the referenced rows.
create index runs_of_parent on runs (organization_id, parent_run_id) where parent_run_id is not null;
create index runs_of_repository on runs (organization_id, repository_id);
-- Finds what the last detection of setup commands has verified.
create index runs_of_setup on runs (organization_id, repository_id, id) where source_type = 'SETUP_COMMANDS';
create index runs_owned on runs (organization_id, id) where owner is not null;
-- The queue of each organization in claim order: recovering runs first (nulls last), then by waiting time.
create index runs_queue on runs (organization_id, recovering_since, runnable_at, id) where runnable_at is not null;
-- Finds the runs that wait for the checks of a commit.
create index runs_waiting_for_checks on runs (organization_id, repository_id, pushed_sha) where status = 'waiting' and waiting_on = 'ci';
create index runs_workspaces on runs (finished_at) where workspace is not null;

-- Durations of the phases of a run's first turn until its first action, in milliseconds; null: not reached, or not part of this start.
create table run_startups (
  organization_id bigint not null references organizations,
  run_id bigint not null,
  repository_id bigint,
  started_at timestamptz not null default now(),
  queue_ms bigint,
  claim_ms bigint,
  mirror_ms bigint,
  clone_ms bigint,
  setup_ms bigint,
  sandbox_ms bigint,
  first_model_byte_ms bigint,
  first_action_ms bigint,
  -- The environment that the run reused, as JSON.
  environment text,
  -- When each part ran: a JSON list of {part, start_ms, duration_ms}.
  spans text not null,
  primary key (organization_id, run_id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create index run_startups_by_repository on run_startups (organization_id, repository_id, started_at);

-- The trace. `body` is the entry as JSON text as it is sent: jsonb rejects \u0000 and lone surrogates. `signature` tells a search which
-- entries cannot contain its text; null: any text is possible.
create table log_entries (
  run_id bigint not null,
  seq int not null,
  organization_id bigint not null,
  turn int not null,
  message_type text not null,
  tool_name text,
  created_at timestamptz not null default now(),
  body text not null,
  signature bytea,
  -- Whether it reports a failure.
  failed boolean not null default false,
  primary key (run_id, seq),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);

-- The event streams of organizations and runs. `run_id` is null for the event of a deletion, which outlives its run.
create table events (
  organization_id bigint not null references organizations,
  seq bigint not null,
  run_id bigint,
  type text not null,
  body text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, seq),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create index events_of_deleted on events (created_at) where run_id is null;
create index events_of_run on events (organization_id, run_id);

-- The record of intents and outcomes from which another worker continues a turn.
create table journal (
  run_id bigint not null,
  n int not null,
  organization_id bigint not null,
  turn int not null,
  epoch int not null,
  kind text not null check (kind in ('message', 'model_started', 'model_answered', 'model_failed', 'tool_started', 'tool_finished', 'compacted', 'recovered', 'commit_started', 'push_started', 'set_up', 'checks_judged', 'aside_started', 'aside_ended')),
  key text,
  body text not null,
  created_at timestamptz not null default now(),
  -- The length of the trace when the record was written, so that a fork can cut the conversation at an entry.
  seq int not null default 0,
  -- The cost of the model call that ended with this record, where it is known.
  cost_usd numeric,
  primary key (run_id, n),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);

-- Messages of people to a run. They are delivered with the next model call or the next turn.
create table messages (
  id bigint generated always as identity primary key,
  run_id bigint not null,
  organization_id bigint not null,
  seq int not null,
  turn int,
  mode text not null,
  text text not null,
  images text,
  user_id bigint references users,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  -- The journal record that delivered the message.
  delivered_n int,
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade,
  check (mode in ('prompt', 'steer', 'enqueue', 'interrupt', 'answer'))
);
create index messages_of_run on messages (run_id);
create index messages_waiting on messages (run_id, id) where delivered_at is null;

-- The diff of a run against its base. `files` is JSON.
create table changes (
  run_id bigint primary key,
  organization_id bigint not null,
  base_sha text not null,
  head_sha text not null,
  files_changed int not null,
  additions int not null,
  deletions int not null,
  files text not null,
  patch text not null,
  patch_truncated boolean not null,
  updated_at timestamptz not null default now(),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);

-- The whole output of a tool whose entry shows only head and tail.
create table artifacts (
  id bigint generated always as identity,
  organization_id bigint not null,
  run_id bigint not null,
  -- The entry that the output belongs to.
  seq int not null,
  content_type text not null,
  content bytea not null,
  -- The size before truncation; larger than the content if it was truncated too.
  total_bytes bigint not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create index artifacts_of_run on artifacts (run_id);

-- Sandboxes that runs started, with their purpose, lifetime and resource usage.
create table sandboxes (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  run_id bigint not null,
  kind text not null check (kind in ('agent', 'setup', 'check')),
  driver text not null,
  -- The machine, and the epoch of the run's owner that started the sandbox.
  host text not null,
  epoch int not null,
  state text not null check (state in ('starting', 'running', 'ended', 'lost')),
  end_reason text check (end_reason in ('stopped', 'start_failed', 'died', 'owner_lost')),
  -- JSON.
  limits text not null,
  -- Null: not measured.
  peak_memory_bytes bigint,
  peak_disk_bytes bigint,
  peak_processes int,
  cpu_ms bigint,
  memory_kills int,
  -- The run's entries during its lifetime; `last_seq` is null while the sandbox lives.
  first_seq int not null,
  last_seq int,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade,
  check ((state in ('ended', 'lost')) = (ended_at is not null)),
  check ((end_reason is null) = (ended_at is null))
);
-- For the sweep: sandboxes whose owner may be dead.
create index sandboxes_alive on sandboxes (run_id) where ended_at is null;
create index sandboxes_of_run on sandboxes (organization_id, run_id, id);

-- Git objects as thin packs. Each builds on the packs before it and on a commit of the repository.
create table checkpoint_packs (
  organization_id bigint not null,
  run_id bigint not null,
  n int not null check (n > 0),
  -- The commit that the pack was created for. The next pack builds on it.
  tip text not null,
  -- The commit of the repository that the pack builds on; null: none.
  base_sha text,
  -- Copied from the run that this one was forked from.
  inherited boolean not null default false,
  sha256 bytea not null,
  content bytea not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, run_id, n),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);

create table checkpoints (
  organization_id bigint not null,
  run_id bigint not null,
  -- The workspace had this content after entry `seq` (0: at the start) and until entry `through_seq` (2147483647: until the end).
  seq int not null check (seq >= 0),
  through_seq int not null,
  -- How many of the run's packs, from the first, the checkpoint needs.
  packs int not null,
  base_sha text,
  tree text not null,
  -- The checked-out commit and branch; null: none.
  head text,
  branch text,
  -- Paths that the checkpoint omits, as JSON; null: none.
  left_out text,
  created_at timestamptz not null default now(),
  primary key (organization_id, run_id, seq),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade,
  check (through_seq >= seq)
);

-- Sessions of external coding agents that report their logs to this service: each is recorded in one run.
create table recorded_sessions (
  organization_id bigint not null references organizations,
  user_id bigint not null references users,
  -- The name that the reporting client chose; unique for its user only.
  session_id text not null,
  run_id bigint not null,
  -- JSON: tool calls whose results have not been reported yet.
  open_calls text not null default '[]',
  -- The latest answer of the current turn.
  answer text not null default '',
  primary key (organization_id, user_id, session_id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create unique index recorded_sessions_run on recorded_sessions (organization_id, run_id);

-- Pull requests
-- -------------

create table pull_requests (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  repository_id bigint not null,
  run_id bigint,
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
  merge_sha text,
  merged_at timestamptz,
  merge_attempts text[] not null default '{}',
  -- A pull request on a forge that is mirrored here. `remote_draft`: whether it is a draft there, as last sent or received.
  remote_number int,
  remote_url text,
  remote_draft boolean,
  remote_seen_at timestamptz,
  -- The pull request is a draft because its evaluation has not passed, not because a person requested it.
  held_back boolean not null default false,
  -- The verdict of the newest evaluation, and the commit that it is about.
  review text check (review in ('pass', 'fail', 'inconclusive')),
  reviewed_sha text,
  check ((review is null) = (reviewed_sha is null)),
  unique (repository_id, head_branch),
  unique (repository_id, number),
  foreign key (organization_id, repository_id) references repositories (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id),
  check ((state = 'merged') = (merged_at is not null)),
  check ((state = 'merged') = (merge_sha is not null))
);
create unique index pull_requests_key on pull_requests (organization_id, id);
create index pull_requests_of_run on pull_requests (run_id);
create index pull_requests_remote on pull_requests (remote_seen_at) where (remote_number is not null) and state in ('open', 'draft');

-- Comments of people and runs on a pull request. `line` refers to `path` at `head_sha` (side RIGHT) or at the base (LEFT).
create table pull_request_comments (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  pull_request_id bigint not null,
  -- The author: one of the two, neither if it was a run that is deleted.
  user_id bigint references users,
  run_id bigint,
  body text not null,
  path text,
  line int check (line > 0),
  side text check (side in ('LEFT', 'RIGHT')),
  head_sha text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, pull_request_id) references pull_requests (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id),
  check ((user_id is null) or (run_id is null)),
  check ((line is null) or (path is not null)),
  check ((side is null) = (line is null))
);
create index pull_request_comments_in_order on pull_request_comments (organization_id, pull_request_id, id);
create index pull_request_comments_of_run on pull_request_comments (organization_id, run_id) where run_id is not null;

-- Results of checks: one row per check and commit, which the next attempt replaces.
create table checks (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  repository_id bigint not null,
  head_sha text not null,
  -- Which system executed the check: this service, or the forge that reported it.
  source text not null check (source in ('local', 'github', 'gitea')),
  name text not null,
  -- The app on the forge that executed the check.
  app text,
  status text not null check (status in ('queued', 'in_progress', 'completed')),
  conclusion text check (conclusion in ('success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required', 'startup_failure', 'stale')),
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

-- Forges
-- ------

-- Connections of organizations to forges. A repository belongs to the connection whose URL its own URL starts with.
create table forges (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  kind text not null check (kind in ('github', 'gitea')),
  -- The base URL, for example https://github.com.
  url text not null,
  auth text not null check (auth in ('token', 'app')),
  -- The login and the app's slug on the forge, as last reported.
  login text,
  app_slug text,
  app_id bigint,
  installation_id bigint,
  -- JSON of the credentials, encrypted.
  key_id text not null,
  sealed bytea not null,
  -- The error of the last request; null: it succeeded.
  problem text,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  -- When the service last used the connection, to the minute.
  used_at timestamptz,
  -- Mentions from before this time are not polled.
  connected_at timestamptz not null default now(),
  unique (organization_id, url),
  check ((auth = 'app') = (app_id is not null))
);
create unique index forges_key on forges (organization_id, id);

-- Missing permissions of a connection's credentials per repository, as the forge last reported.
create table forge_gaps (
  organization_id bigint not null references organizations,
  forge_id bigint not null,
  repository_id bigint not null,
  resource text not null,
  -- The forge's own message.
  detail text not null,
  noticed_at timestamptz not null default now(),
  primary key (organization_id, repository_id, forge_id, resource),
  foreign key (organization_id, forge_id) references forges (organization_id, id) on delete cascade,
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);
create index forge_gaps_of_forge on forge_gaps (organization_id, forge_id);

-- Webhook deliveries received from forges, once each, until they are processed or dropped.
create table forge_deliveries (
  organization_id bigint not null,
  forge_id bigint not null,
  delivery text not null,
  event text not null,
  -- Identifies the same mention in webhooks and polls; null: not a mention.
  once text,
  -- The issue or pull request of a mention: its mentions are processed in order, by one run.
  subject text,
  received_at timestamptz not null default now(),
  -- The pending task as JSON; null: none, or done.
  task text,
  -- A queue, as webhook_deliveries.
  epoch int not null default 0,
  lease_until timestamptz,
  next_attempt_at timestamptz,
  tries int not null default 0,
  outcome text,
  run_id bigint,
  primary key (forge_id, delivery),
  unique (forge_id, once),
  foreign key (organization_id, forge_id) references forges (organization_id, id) on delete cascade,
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id)
);
create index forge_deliveries_due on forge_deliveries (next_attempt_at) where next_attempt_at is not null;
create index forge_deliveries_of_subject on forge_deliveries (forge_id, subject, received_at) where subject is not null;
create index forge_deliveries_old on forge_deliveries (received_at);

-- Commit statuses that the service reports to a forge: one row per run and commit.
create table run_marks (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  run_id bigint,
  -- The run's id, which stays when the run is deleted: the forge knows the status by it.
  number bigint not null,
  repository_id bigint not null,
  head_sha text not null,
  -- The run pushed the commit; otherwise it was requested on a pull request with this head.
  pushed boolean not null,
  -- The number of changes, and how many of them the forge shows.
  change int not null default 1,
  posted_change int not null default 0,
  -- What the forge shows; null: unknown.
  posted text,
  -- A queue, as webhook_deliveries.
  epoch int not null default 0,
  lease_until timestamptz,
  next_attempt_at timestamptz not null default now(),
  tries int not null default 0,
  -- The error of the last attempt.
  problem text,
  primary key (organization_id, id),
  unique (organization_id, number, head_sha),
  foreign key (organization_id, repository_id) references repositories (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id)
);
create index run_marks_due on run_marks (next_attempt_at) where posted_change < change or (run_id is null);
create index run_marks_of_run on run_marks (organization_id, run_id);

-- Comments on pull requests that are mirrored to a forge: one row per comment, until it is deleted on both sides.
create table comment_mirrors (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  -- The id of a comment, which may be deleted.
  comment_id bigint not null,
  pull_request_id bigint not null,
  repository_id bigint not null,
  -- See run_marks.
  change int not null default 1,
  posted_change int not null default 0,
  posted text,
  epoch int not null default 0,
  lease_until timestamptz,
  next_attempt_at timestamptz not null default now(),
  tries int not null default 0,
  problem text,
  primary key (organization_id, id),
  unique (organization_id, comment_id),
  foreign key (organization_id, pull_request_id) references pull_requests (organization_id, id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);
create index comment_mirrors_due on comment_mirrors (next_attempt_at) where posted_change < change;
create index comment_mirrors_in_order on comment_mirrors (organization_id, pull_request_id, id) where posted_change < change;

-- Webhooks
-- --------

-- The webhook of an organization, with its encrypted signing secret.
create table webhooks (
  organization_id bigint primary key references organizations,
  url text not null,
  enabled boolean not null,
  key_id text,
  sealed_secret bytea,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  -- Event types to send; null: all.
  events text[],
  -- The previous secret, which also signs until `previous_until`.
  previous_key_id text,
  previous_sealed_secret bytea,
  previous_until timestamptz,
  -- Consecutive failed attempts, and until when no delivery is attempted because of them.
  failures int not null default 0,
  rests_until timestamptz,
  last_success_at timestamptz,
  -- When and why the service disabled the webhook.
  disabled_at timestamptz,
  disabled_reason text,
  check ((key_id is null) = (sealed_secret is null))
);

-- The queue of webhook requests: written in the transaction of the event, sent at least once, in the order of each run.
create table webhook_deliveries (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  run_id bigint,
  -- Null: the organization's webhook, with the URL that it has when the request is sent.
  url text,
  message_id uuid not null default gen_random_uuid(),
  event_seq bigint not null,
  type text not null,
  body text not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  error text,
  -- Attempts in total, and since the delivery was last enqueued.
  attempts int not null default 0,
  tries int not null default 0,
  last_status int,
  last_latency_ms int,
  -- A queue: each claim raises the epoch, which fences the writes of earlier claims, and extends the lease; null: no attempt is running.
  epoch int not null default 0,
  lease_until timestamptz,
  -- Null: finished, or blocked by an earlier delivery of its run.
  next_attempt_at timestamptz,
  give_up_at timestamptz not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Data of a deleted run that its `deleted` event needs. `deleted_run_webhooks`: the run's own webhooks.
  deleted_run_id bigint,
  deleted_run_repository_id bigint,
  deleted_run_webhooks text,
  primary key (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade,
  check ((state = 'pending') = (finished_at is null)),
  check (state = 'pending' or ((next_attempt_at is null) and (lease_until is null)))
);
-- Counts the attempts in flight with every claim.
create index webhook_deliveries_leased on webhook_deliveries (organization_id) where lease_until is not null;
create index webhook_deliveries_of_run on webhook_deliveries (organization_id, run_id, id);
create index webhook_deliveries_of_runs on webhook_deliveries (organization_id, next_attempt_at) where state = 'pending' and (url is not null);
create index webhook_deliveries_old on webhook_deliveries (finished_at) where finished_at is not null;
create index webhook_deliveries_own on webhook_deliveries (organization_id, next_attempt_at) where state = 'pending' and (url is null);

-- Attempts to send a webhook delivery.
create table webhook_attempts (
  organization_id bigint not null,
  delivery_id bigint not null,
  n int not null,
  url text not null default '',
  started_at timestamptz not null default now(),
  -- Null: in flight, or its process died.
  finished_at timestamptz,
  status int,
  error text,
  latency_ms int,
  answer text,
  primary key (organization_id, delivery_id, n),
  foreign key (organization_id, delivery_id) references webhook_deliveries (organization_id, id) on delete cascade
);

-- References to tables that are created later

alter table organizations add foreign key (id, default_repository_id) references repositories (organization_id, id);

-- Packs are compressed already.
alter table checkpoint_packs alter column content set storage external;

-- Charges all given rate windows or, if one that may refuse is full, none. Exact for any time window and over all processes: the rows are
-- locked before the clock is read. Hits of one slice are counted together at the time of the last one, so that none expires too early.
create function charge(
  p_subjects text[], p_buckets text[], p_amounts integer[], p_limits integer[], p_windows_ms integer[], p_slices_us bigint[],
  p_refusing boolean[]
) returns table (place integer, allowed boolean, used integer, reset_ms integer, retry_ms integer)
language plpgsql as $$
declare
  everything boolean := true;
  clock bigint;
  since bigint;
  h bigint[];
  c integer[];
  total integer;
  freed integer;
begin
  insert into rate_windows (subject, bucket)
    select s, b from unnest(p_subjects, p_buckets) as given (s, b) order by s, b on conflict do nothing;
  perform 1 from rate_windows w join unnest(p_subjects, p_buckets) as given (s, b) on w.subject = given.s and w.bucket = given.b
    order by w.subject, w.bucket for update of w;
  clock := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  for i in 1 .. cardinality(p_subjects) loop
    since := clock - p_windows_ms[i] * 1000::bigint;
    select coalesce(sum(n), 0) into total from rate_windows w, unnest(w.hits, w.counts) as hit (t, n)
      where w.subject = p_subjects[i] and w.bucket = p_buckets[i] and t > since;
    if p_refusing[i] and total + p_amounts[i] > p_limits[i] then everything := false; end if;
  end loop;
  for i in 1 .. cardinality(p_subjects) loop
    since := clock - p_windows_ms[i] * 1000::bigint;
    select coalesce(array_agg(t order by o), '{}'), coalesce(array_agg(n order by o), '{}'), coalesce(sum(n), 0) into h, c, total
      from rate_windows w, unnest(w.hits, w.counts) with ordinality as hit (t, n, o)
      where w.subject = p_subjects[i] and w.bucket = p_buckets[i] and t > since;
    if everything then
      if cardinality(h) > 0 and h[cardinality(h)] / p_slices_us[i] = clock / p_slices_us[i] then
        c[cardinality(c)] := c[cardinality(c)] + p_amounts[i];
        h[cardinality(h)] := clock;
      else
        h := h || clock;
        c := c || p_amounts[i];
      end if;
      total := total + p_amounts[i];
      -- Bounds a window that only counts: hits beyond the limit carry no information.
      while total - c[1] >= p_limits[i] and cardinality(h) > 1 loop
        total := total - c[1];
        h := h[2:];
        c := c[2:];
      end loop;
      update rate_windows w set hits = h, counts = c where w.subject = p_subjects[i] and w.bucket = p_buckets[i];
    end if;
    place := i;
    allowed := everything;
    used := total;
    reset_ms := coalesce((h[cardinality(h)] - since + 999) / 1000, 0);
    -- The time until one more request is allowed.
    freed := 0;
    retry_ms := 0;
    for n in 1 .. cardinality(h) loop
      exit when total - freed + 1 <= p_limits[i];
      freed := freed + c[n];
      retry_ms := (h[n] - since + 999) / 1000;
    end loop;
    return next;
  end loop;
end
$$;
