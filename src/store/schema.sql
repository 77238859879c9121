-- The schema after all migrations, as reported by PostgreSQL's catalog: for readers, and for test/drift.test.ts.
-- Written by `node scripts/write-schema.ts`. Never run: migrations are.

create table artifacts (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  run_id bigint not null,
  seq integer not null,
  content_type text not null,
  content bytea not null,
  total_bytes bigint not null,
  created_at timestamp with time zone not null default now(),
  constraint artifacts_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint artifacts_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX artifacts_of_run ON public.artifacts USING btree (run_id);

create table audit_entries (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  created_at timestamp with time zone not null default now(),
  user_id bigint,
  token_id bigint,
  action text not null,
  target_type text not null,
  target_id text,
  detail text not null,
  request_id text,
  constraint audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint audit_entries_pkey PRIMARY KEY (organization_id, id),
  constraint audit_entries_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX audit_entries_created ON public.audit_entries USING btree (organization_id, created_at);
CREATE INDEX audit_entries_of_action ON public.audit_entries USING btree (organization_id, action, id);
CREATE INDEX audit_entries_of_user ON public.audit_entries USING btree (organization_id, user_id, id);

create table authorization_codes (
  digest bytea not null,
  organization_id bigint not null,
  token_id bigint not null,
  client_digest bytea not null,
  redirect_uri text not null,
  challenge text not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint authorization_codes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint authorization_codes_pkey PRIMARY KEY (digest),
  constraint authorization_codes_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id) ON DELETE CASCADE,
  constraint authorization_codes_token_id_key UNIQUE (token_id)
);
CREATE INDEX authorization_codes_by_expiry ON public.authorization_codes USING btree (expires_at);

create table browser_sessions (
  digest bytea not null,
  user_id bigint not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  login_id uuid not null default gen_random_uuid(),
  login_at timestamp with time zone,
  acceptances uuid[] not null default '{}'::uuid[],
  constraint browser_sessions_pkey PRIMARY KEY (digest),
  constraint browser_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

create table changes (
  run_id bigint not null,
  organization_id bigint not null,
  base_sha text not null,
  head_sha text not null,
  files_changed integer not null,
  additions integer not null,
  deletions integer not null,
  files text not null,
  patch text not null,
  patch_truncated boolean not null,
  updated_at timestamp with time zone not null default now(),
  constraint changes_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint changes_pkey PRIMARY KEY (run_id)
);

create table check_commands (
  organization_id bigint not null,
  repository_id bigint not null,
  checks text not null,
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  constraint check_commands_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint check_commands_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint check_commands_pkey PRIMARY KEY (organization_id, repository_id),
  constraint check_commands_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table check_suite_settings (
  organization_id bigint not null,
  repository_id bigint not null,
  check_retry_count integer,
  ignored_checks text,
  check_retry_counts text,
  custom_prompts text,
  high_priority_apps text,
  updated_at timestamp with time zone not null default now(),
  constraint check_suite_settings_check_retry_count_check CHECK (((check_retry_count >= 0) AND (check_retry_count <= 10))),
  constraint check_suite_settings_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint check_suite_settings_pkey PRIMARY KEY (organization_id, repository_id)
);

create table checkpoint_packs (
  organization_id bigint not null,
  run_id bigint not null,
  n integer not null,
  tip text not null,
  base_sha text,
  inherited boolean not null default false,
  sha256 bytea not null,
  content bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint checkpoint_packs_n_check CHECK ((n > 0)),
  constraint checkpoint_packs_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint checkpoint_packs_pkey PRIMARY KEY (organization_id, run_id, n)
);

create table checkpoints (
  organization_id bigint not null,
  run_id bigint not null,
  seq integer not null,
  through_seq integer not null,
  packs integer not null,
  base_sha text,
  tree text not null,
  head text,
  branch text,
  left_out text,
  created_at timestamp with time zone not null default now(),
  constraint checkpoints_check CHECK ((through_seq >= seq)),
  constraint checkpoints_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint checkpoints_pkey PRIMARY KEY (organization_id, run_id, seq),
  constraint checkpoints_seq_check CHECK ((seq >= 0))
);

create table checks (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  repository_id bigint not null,
  head_sha text not null,
  source text not null,
  name text not null,
  app text,
  status text not null,
  conclusion text,
  url text,
  log_excerpt text,
  attempt integer not null,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  constraint checks_attempt_check CHECK ((attempt > 0)),
  constraint checks_check CHECK (((status = 'completed'::text) = (conclusion IS NOT NULL))),
  constraint checks_conclusion_check CHECK ((conclusion = ANY (ARRAY['success'::text, 'failure'::text, 'neutral'::text, 'cancelled'::text, 'skipped'::text, 'timed_out'::text, 'action_required'::text, 'startup_failure'::text, 'stale'::text]))),
  constraint checks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint checks_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint checks_organization_id_repository_id_head_sha_source_name_key UNIQUE (organization_id, repository_id, head_sha, source, name),
  constraint checks_pkey PRIMARY KEY (organization_id, id),
  constraint checks_source_check CHECK ((source = ANY (ARRAY['local'::text, 'github'::text, 'gitea'::text]))),
  constraint checks_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'completed'::text])))
);
CREATE INDEX checks_by_name ON public.checks USING btree (organization_id, repository_id, name);

create table comment_mirrors (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  comment_id bigint not null,
  pull_request_id bigint not null,
  repository_id bigint not null,
  change integer not null default 1,
  posted_change integer not null default 0,
  posted text,
  epoch integer not null default 0,
  lease_until timestamp with time zone,
  next_attempt_at timestamp with time zone not null default now(),
  tries integer not null default 0,
  problem text,
  constraint comment_mirrors_organization_id_comment_id_key UNIQUE (organization_id, comment_id),
  constraint comment_mirrors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint comment_mirrors_organization_id_pull_request_id_fkey FOREIGN KEY (organization_id, pull_request_id) REFERENCES pull_requests(organization_id, id),
  constraint comment_mirrors_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint comment_mirrors_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX comment_mirrors_due ON public.comment_mirrors USING btree (next_attempt_at) WHERE (posted_change < change);
CREATE INDEX comment_mirrors_in_order ON public.comment_mirrors USING btree (organization_id, pull_request_id, id) WHERE (posted_change < change);

create table egress (
  organization_id bigint not null,
  repository_id bigint,
  mode text,
  allow text not null,
  presets text not null,
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  setup_mode text,
  constraint egress_mode_check CHECK ((mode = ANY (ARRAY['off'::text, 'allowlist'::text]))),
  constraint egress_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint egress_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint egress_organization_id_repository_id_key UNIQUE NULLS NOT DISTINCT (organization_id, repository_id),
  constraint egress_setup_mode_check CHECK ((setup_mode = ANY (ARRAY['off'::text, 'allowlist'::text, 'open'::text]))),
  constraint egress_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table environments (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  repository_id bigint not null,
  folder_id text not null,
  template text not null,
  key text not null,
  setup_digest text not null,
  manifests_digest text not null,
  base_ref text not null,
  base_sha text not null,
  left_out text not null,
  digest text not null,
  bytes bigint not null,
  setup_ms bigint not null,
  run_id bigint not null,
  made_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone not null default now(),
  uses integer not null default 0,
  constraint environments_folder_id_template_key UNIQUE (folder_id, template),
  constraint environments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint environments_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint environments_organization_id_repository_id_folder_id_key_key UNIQUE (organization_id, repository_id, folder_id, key),
  constraint environments_pkey PRIMARY KEY (organization_id, id)
);

create table events (
  organization_id bigint not null,
  seq bigint not null,
  run_id bigint,
  type text not null,
  body text not null,
  created_at timestamp with time zone not null default now(),
  constraint events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint events_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint events_pkey PRIMARY KEY (organization_id, seq)
);
CREATE INDEX events_of_deleted ON public.events USING btree (created_at) WHERE (run_id IS NULL);
CREATE INDEX events_of_run ON public.events USING btree (organization_id, run_id);

create table forge_deliveries (
  organization_id bigint not null,
  forge_id bigint not null,
  delivery text not null,
  event text not null,
  once text,
  subject text,
  received_at timestamp with time zone not null default now(),
  task text,
  epoch integer not null default 0,
  lease_until timestamp with time zone,
  next_attempt_at timestamp with time zone,
  tries integer not null default 0,
  outcome text,
  run_id bigint,
  constraint forge_deliveries_forge_id_once_key UNIQUE (forge_id, once),
  constraint forge_deliveries_organization_id_forge_id_fkey FOREIGN KEY (organization_id, forge_id) REFERENCES forges(organization_id, id) ON DELETE CASCADE,
  constraint forge_deliveries_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE SET NULL (run_id),
  constraint forge_deliveries_pkey PRIMARY KEY (forge_id, delivery)
);
CREATE INDEX forge_deliveries_due ON public.forge_deliveries USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX forge_deliveries_of_subject ON public.forge_deliveries USING btree (forge_id, subject, received_at) WHERE (subject IS NOT NULL);
CREATE INDEX forge_deliveries_old ON public.forge_deliveries USING btree (received_at);

create table forge_gaps (
  organization_id bigint not null,
  forge_id bigint not null,
  repository_id bigint not null,
  resource text not null,
  detail text not null,
  noticed_at timestamp with time zone not null default now(),
  constraint forge_gaps_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint forge_gaps_organization_id_forge_id_fkey FOREIGN KEY (organization_id, forge_id) REFERENCES forges(organization_id, id) ON DELETE CASCADE,
  constraint forge_gaps_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint forge_gaps_pkey PRIMARY KEY (organization_id, repository_id, forge_id, resource)
);
CREATE INDEX forge_gaps_of_forge ON public.forge_gaps USING btree (organization_id, forge_id);

create table forges (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  kind text not null,
  url text not null,
  auth text not null,
  login text,
  app_slug text,
  app_id bigint,
  installation_id bigint,
  key_id text not null,
  sealed bytea not null,
  problem text,
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  used_at timestamp with time zone,
  connected_at timestamp with time zone not null default now(),
  constraint forges_auth_check CHECK ((auth = ANY (ARRAY['token'::text, 'app'::text]))),
  constraint forges_check CHECK (((auth = 'app'::text) = (app_id IS NOT NULL))),
  constraint forges_kind_check CHECK ((kind = ANY (ARRAY['github'::text, 'gitea'::text]))),
  constraint forges_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint forges_organization_id_url_key UNIQUE (organization_id, url),
  constraint forges_pkey PRIMARY KEY (id),
  constraint forges_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);
CREATE UNIQUE INDEX forges_key ON public.forges USING btree (organization_id, id);

create table idempotency_keys (
  organization_id bigint not null,
  user_id bigint not null,
  key text not null,
  created_at timestamp with time zone not null default now(),
  request_digest bytea,
  answer text,
  constraint idempotency_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint idempotency_keys_pkey PRIMARY KEY (organization_id, user_id, key),
  constraint idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX idempotency_keys_old ON public.idempotency_keys USING btree (created_at);

create table invitations (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  email text not null,
  full_name text,
  role text not null,
  digest bytea not null,
  created_by bigint,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitations_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id),
  constraint invitations_digest_key UNIQUE (digest),
  constraint invitations_email_check CHECK ((email = lower(email))),
  constraint invitations_organization_id_email_key UNIQUE (organization_id, email),
  constraint invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['ADMIN'::text, 'MANAGER'::text, 'MEMBER'::text, 'READER'::text])))
);

create table journal (
  run_id bigint not null,
  n integer not null,
  organization_id bigint not null,
  turn integer not null,
  epoch integer not null,
  kind text not null,
  key text,
  body text not null,
  created_at timestamp with time zone not null default now(),
  seq integer not null default 0,
  cost_usd numeric,
  constraint journal_kind_check CHECK ((kind = ANY (ARRAY['message'::text, 'model_started'::text, 'model_answered'::text, 'model_failed'::text, 'tool_started'::text, 'tool_finished'::text, 'compacted'::text, 'recovered'::text, 'commit_started'::text, 'push_started'::text, 'set_up'::text, 'checks_judged'::text, 'aside_started'::text, 'aside_ended'::text, 'prompt_started'::text]))) NOT VALID,
  constraint journal_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint journal_pkey PRIMARY KEY (run_id, n)
);

create table leftover_workspaces (
  organization_id bigint not null,
  run_id bigint not null,
  workspace text not null,
  host text not null,
  constraint leftover_workspaces_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint leftover_workspaces_pkey PRIMARY KEY (organization_id, run_id)
);
CREATE INDEX leftover_workspaces_of_host ON public.leftover_workspaces USING btree (host);

create table log_entries (
  run_id bigint not null,
  seq integer not null,
  organization_id bigint not null,
  turn integer not null,
  message_type text not null,
  tool_name text,
  created_at timestamp with time zone not null default now(),
  body text not null,
  signature bytea,
  failed boolean not null default false,
  constraint log_entries_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint log_entries_pkey PRIMARY KEY (run_id, seq)
);
CREATE INDEX log_entries_failed ON public.log_entries USING btree (organization_id, run_id, seq) WHERE failed;

create table mcp_servers (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  repository_id bigint,
  name text not null,
  settings text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  renewing_until timestamp with time zone,
  constraint mcp_servers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint mcp_servers_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint mcp_servers_organization_id_repository_id_name_key UNIQUE NULLS NOT DISTINCT (organization_id, repository_id, name),
  constraint mcp_servers_pkey PRIMARY KEY (id),
  constraint mcp_servers_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table memberships (
  organization_id bigint not null,
  user_id bigint not null,
  role text not null,
  created_at timestamp with time zone not null default now(),
  email text,
  accepted_at timestamp with time zone default clock_timestamp(),
  login_id uuid,
  github_username text,
  github_user_id text,
  acceptance_id uuid not null default gen_random_uuid(),
  constraint memberships_email_check CHECK ((email = lower(email))),
  constraint memberships_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint memberships_pkey PRIMARY KEY (organization_id, user_id),
  constraint memberships_role_check CHECK ((role = ANY (ARRAY['ADMIN'::text, 'MANAGER'::text, 'MEMBER'::text, 'READER'::text]))),
  constraint memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX memberships_email ON public.memberships USING btree (organization_id, email);
CREATE INDEX memberships_of_user ON public.memberships USING btree (user_id);

create table messages (
  id bigint not null generated always as identity,
  run_id bigint not null,
  organization_id bigint not null,
  seq integer not null,
  turn integer,
  mode text not null,
  text text not null,
  images text,
  user_id bigint,
  created_at timestamp with time zone not null default now(),
  delivered_at timestamp with time zone,
  delivered_n integer,
  constraint messages_mode_check CHECK ((mode = ANY (ARRAY['prompt'::text, 'steer'::text, 'enqueue'::text, 'interrupt'::text, 'answer'::text]))),
  constraint messages_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint messages_pkey PRIMARY KEY (id),
  constraint messages_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX messages_of_run ON public.messages USING btree (run_id);
CREATE INDEX messages_waiting ON public.messages USING btree (run_id, id) WHERE (delivered_at IS NULL);

create table migrations (
  name text not null,
  digest text not null,
  applied_at timestamp with time zone not null default now(),
  needs text,
  constraint migrations_pkey PRIMARY KEY (name)
);

create table organization_models (
  organization_id bigint not null,
  id text not null,
  settings text not null,
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  constraint organization_models_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint organization_models_pkey PRIMARY KEY (organization_id, id),
  constraint organization_models_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table organizations (
  id bigint not null generated always as identity,
  name text not null,
  enable_pr_creation boolean not null default true,
  enable_rules_detection boolean not null default true,
  default_repository_id bigint,
  event_seq bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  default_model text,
  reasoning_effort text,
  review text,
  rules text,
  max_concurrent_runs integer,
  budget_usd_per_month numeric,
  runs_per_month integer,
  agent_permissions text,
  created_by_user_id bigint,
  branch_prefix text,
  approval_paths text[],
  constraint organizations_agent_permissions_check CHECK ((agent_permissions = ANY (ARRAY['allow'::text, 'ask'::text, 'deny'::text]))),
  constraint organizations_budget_usd_per_month_check CHECK ((budget_usd_per_month >= (0)::numeric)),
  constraint organizations_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES users(id) ON DELETE SET NULL,
  constraint organizations_id_default_repository_id_fkey FOREIGN KEY (id, default_repository_id) REFERENCES repositories(organization_id, id),
  constraint organizations_max_concurrent_runs_check CHECK ((max_concurrent_runs > 0)),
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_reasoning_effort_check CHECK ((reasoning_effort = ANY (ARRAY['none'::text, 'minimal'::text, 'low'::text, 'medium'::text, 'high'::text, 'xhigh'::text, 'max'::text]))),
  constraint organizations_review_check CHECK ((review = ANY (ARRAY['model'::text, 'rules'::text]))),
  constraint organizations_runs_per_month_check CHECK ((runs_per_month >= 0))
);
CREATE INDEX organizations_by_creator ON public.organizations USING btree (created_by_user_id) WHERE (created_by_user_id IS NOT NULL);

create table processes (
  id text not null,
  role text not null,
  host text not null,
  pid integer not null,
  version text not null,
  newest_migration text not null,
  folder_id text not null,
  key_id text not null,
  base_url text,
  clock_ahead_ms bigint not null,
  started_at timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  constraint processes_pkey PRIMARY KEY (id)
);

create table pull_request_comments (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  pull_request_id bigint not null,
  user_id bigint,
  run_id bigint,
  body text not null,
  path text,
  line integer,
  side text,
  head_sha text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint pull_request_comments_check CHECK (((user_id IS NULL) OR (run_id IS NULL))),
  constraint pull_request_comments_check1 CHECK (((line IS NULL) OR (path IS NOT NULL))),
  constraint pull_request_comments_check2 CHECK (((side IS NULL) = (line IS NULL))),
  constraint pull_request_comments_line_check CHECK ((line > 0)),
  constraint pull_request_comments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint pull_request_comments_organization_id_pull_request_id_fkey FOREIGN KEY (organization_id, pull_request_id) REFERENCES pull_requests(organization_id, id),
  constraint pull_request_comments_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE SET NULL (run_id),
  constraint pull_request_comments_pkey PRIMARY KEY (organization_id, id),
  constraint pull_request_comments_side_check CHECK ((side = ANY (ARRAY['LEFT'::text, 'RIGHT'::text]))),
  constraint pull_request_comments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX pull_request_comments_in_order ON public.pull_request_comments USING btree (organization_id, pull_request_id, id);
CREATE INDEX pull_request_comments_of_run ON public.pull_request_comments USING btree (organization_id, run_id) WHERE (run_id IS NOT NULL);

create table pull_requests (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  repository_id bigint not null,
  run_id bigint,
  number integer not null,
  state text not null,
  title text not null,
  body text not null,
  url text not null,
  head_branch text not null,
  base_branch text not null,
  base_sha text not null,
  head_sha text not null,
  files_changed integer not null,
  additions integer not null,
  deletions integer not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  merge_sha text,
  merged_at timestamp with time zone,
  merge_attempts text[] not null default '{}'::text[],
  remote_number integer,
  remote_url text,
  remote_draft boolean,
  remote_seen_at timestamp with time zone,
  held_back boolean not null default false,
  review text,
  reviewed_sha text,
  constraint pull_requests_check CHECK (((review IS NULL) = (reviewed_sha IS NULL))),
  constraint pull_requests_check1 CHECK (((state = 'merged'::text) = (merged_at IS NOT NULL))),
  constraint pull_requests_check2 CHECK (((state = 'merged'::text) = (merge_sha IS NOT NULL))),
  constraint pull_requests_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint pull_requests_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint pull_requests_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE SET NULL (run_id),
  constraint pull_requests_pkey PRIMARY KEY (id),
  constraint pull_requests_repository_id_head_branch_key UNIQUE (repository_id, head_branch),
  constraint pull_requests_repository_id_number_key UNIQUE (repository_id, number),
  constraint pull_requests_review_check CHECK ((review = ANY (ARRAY['pass'::text, 'fail'::text, 'inconclusive'::text]))),
  constraint pull_requests_state_check CHECK ((state = ANY (ARRAY['open'::text, 'closed'::text, 'merged'::text, 'draft'::text])))
);
CREATE INDEX pull_requests_in_repository ON public.pull_requests USING btree (organization_id, repository_id, id);
CREATE UNIQUE INDEX pull_requests_key ON public.pull_requests USING btree (organization_id, id);
CREATE INDEX pull_requests_of_run ON public.pull_requests USING btree (run_id);
CREATE INDEX pull_requests_of_state ON public.pull_requests USING btree (organization_id, state, id);
CREATE INDEX pull_requests_proposed ON public.pull_requests USING btree (organization_id, created_at) INCLUDE (run_id);
CREATE INDEX pull_requests_remote ON public.pull_requests USING btree (remote_seen_at) WHERE ((remote_number IS NOT NULL) AND (state = ANY (ARRAY['open'::text, 'draft'::text])));

create table rate_windows (
  subject text not null,
  bucket text not null,
  hits bigint[] not null default '{}'::bigint[],
  counts integer[] not null default '{}'::integer[],
  constraint rate_windows_pkey PRIMARY KEY (subject, bucket)
);

create table recorded_sessions (
  organization_id bigint not null,
  user_id bigint not null,
  session_id text not null,
  run_id bigint not null,
  open_calls text not null default '[]'::text,
  answer text not null default ''::text,
  constraint recorded_sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint recorded_sessions_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint recorded_sessions_pkey PRIMARY KEY (organization_id, user_id, session_id),
  constraint recorded_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE UNIQUE INDEX recorded_sessions_run ON public.recorded_sessions USING btree (organization_id, run_id);

create table repositories (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  name text not null,
  full_name text not null,
  url text not null,
  kind text not null,
  description text,
  language text,
  visibility text,
  default_branch text,
  sample boolean not null default false,
  archived boolean not null default false,
  setup_status text not null default 'NOT_SETUP'::text,
  pull_request_count integer not null default 0,
  created_at timestamp with time zone not null default now(),
  removed_at timestamp with time zone,
  base_branch text,
  reasoning_effort text,
  review text,
  forge_seen_at timestamp with time zone,
  forge_seen_until timestamp with time zone,
  mentions_since timestamp with time zone not null default now(),
  use_mcp_file boolean not null default false,
  branch_prefix text,
  constraint repositories_kind_check CHECK ((kind = ANY (ARRAY['https'::text, 'http'::text, 'ssh'::text, 'local'::text]))),
  constraint repositories_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint repositories_pkey PRIMARY KEY (id),
  constraint repositories_reasoning_effort_check CHECK ((reasoning_effort = ANY (ARRAY['none'::text, 'minimal'::text, 'low'::text, 'medium'::text, 'high'::text, 'xhigh'::text, 'max'::text]))),
  constraint repositories_review_check CHECK ((review = ANY (ARRAY['model'::text, 'rules'::text])))
);
CREATE UNIQUE INDEX repositories_key ON public.repositories USING btree (organization_id, id);
CREATE UNIQUE INDEX repositories_url ON public.repositories USING btree (organization_id, url) WHERE (removed_at IS NULL);

create table run_marks (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  run_id bigint,
  number bigint not null,
  repository_id bigint not null,
  head_sha text not null,
  pushed boolean not null,
  change integer not null default 1,
  posted_change integer not null default 0,
  posted text,
  epoch integer not null default 0,
  lease_until timestamp with time zone,
  next_attempt_at timestamp with time zone not null default now(),
  tries integer not null default 0,
  problem text,
  constraint run_marks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint run_marks_organization_id_number_head_sha_key UNIQUE (organization_id, number, head_sha),
  constraint run_marks_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint run_marks_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE SET NULL (run_id),
  constraint run_marks_pkey PRIMARY KEY (organization_id, id)
);
CREATE INDEX run_marks_due ON public.run_marks USING btree (next_attempt_at) WHERE ((posted_change < change) OR (run_id IS NULL));
CREATE INDEX run_marks_of_run ON public.run_marks USING btree (organization_id, run_id);

create table run_startups (
  organization_id bigint not null,
  run_id bigint not null,
  repository_id bigint,
  started_at timestamp with time zone not null default now(),
  queue_ms bigint,
  claim_ms bigint,
  mirror_ms bigint,
  clone_ms bigint,
  setup_ms bigint,
  sandbox_ms bigint,
  first_model_byte_ms bigint,
  first_action_ms bigint,
  environment text,
  spans text not null,
  constraint run_startups_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint run_startups_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint run_startups_pkey PRIMARY KEY (organization_id, run_id)
);
CREATE INDEX run_startups_by_repository ON public.run_startups USING btree (organization_id, repository_id, started_at);

create table run_tags (
  organization_id bigint not null,
  tag text not null,
  run_id bigint not null,
  constraint run_tags_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint run_tags_pkey PRIMARY KEY (organization_id, tag, run_id)
);
CREATE INDEX run_tags_of_run ON public.run_tags USING btree (organization_id, run_id);

create table run_texts (
  organization_id bigint not null,
  run_id bigint not null,
  text text not null,
  constraint run_texts_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint run_texts_pkey PRIMARY KEY (organization_id, run_id)
);
CREATE INDEX run_texts_trigrams ON public.run_texts USING gin (text gin_trgm_ops);

create table runs (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  user_id bigint not null,
  repository_id bigint,
  status text not null,
  status_reason text,
  phase text,
  waiting_on text,
  runnable_at timestamp with time zone default now(),
  epoch integer not null default 0,
  owner text,
  lease_until timestamp with time zone,
  stop_requested_at timestamp with time zone,
  stop_requested_by bigint,
  interrupt_requested boolean not null default false,
  source_type text not null,
  agent_type text not null,
  model text not null,
  reasoning_effort text,
  review text,
  tools_off text[] not null default '{}'::text[],
  prompt text not null,
  title text not null,
  tags text[] not null default '{}'::text[],
  metadata text,
  webhooks text,
  archived boolean not null default false,
  base_ref text,
  base_sha text,
  branch text,
  head_sha text,
  auto_create_pr boolean not null default true,
  parent_run_id bigint,
  forked_at_seq integer,
  workspace text,
  workspace_host text,
  result text not null default ''::text,
  error_code text,
  error_message text,
  turn integer not null default 1,
  total_logs integer not null default 0,
  journal_count integer not null default 0,
  pending_messages integer not null default 0,
  steps integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  cost_known boolean not null default true,
  active_ms bigint not null default 0,
  budget_max_cost_usd numeric,
  budget_max_steps integer,
  budget_max_active_seconds integer,
  budget_max_wall_seconds integer,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  turn_started_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  last_progress_at timestamp with time zone not null default now(),
  deadline_at timestamp with time zone,
  pushed_sha text,
  banned boolean not null default false,
  abandoned_branches integer not null default 0,
  abandoned_sha text,
  artifact_bytes bigint not null default 0,
  recovering_since timestamp with time zone,
  recovery_cause text,
  losses integer not null default 0,
  sandbox text,
  pause_requested_at timestamp with time zone,
  pause_requested_by bigint,
  turn_active_ms bigint not null default 0,
  reserved_usd numeric not null default 0,
  traceparent text,
  approval_sha text,
  approved_sha text,
  repository_ids bigint[],
  resume_requested_at timestamp with time zone,
  stalls integer not null default 0,
  stalled_epoch integer,
  branch_prefix text,
  from_default_branch boolean not null default false,
  estimated_calls integer not null default 0,
  constraint runs_check CHECK (((status <> ALL (ARRAY['starting'::text, 'running'::text, 'cancelling'::text])) OR (lease_until IS NOT NULL))),
  constraint runs_check1 CHECK (((status <> 'queued'::text) OR (runnable_at IS NOT NULL))),
  constraint runs_check2 CHECK (((status <> ALL (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'paused'::text])) OR ((lease_until IS NULL) AND (runnable_at IS NULL)))),
  constraint runs_check3 CHECK (((recovery_cause IS NULL) = (recovering_since IS NULL))),
  constraint runs_check4 CHECK (((owner IS NULL) = (lease_until IS NULL))),
  constraint runs_end_in_time CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'paused'::text, 'cancelling'::text])) OR (deadline_at IS NOT NULL))),
  constraint runs_have_a_reason CHECK (((status <> ALL (ARRAY['paused'::text, 'failed'::text])) OR (status_reason IS NOT NULL))),
  constraint runs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint runs_organization_id_parent_run_id_fkey FOREIGN KEY (organization_id, parent_run_id) REFERENCES runs(organization_id, id) ON DELETE SET NULL (parent_run_id),
  constraint runs_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint runs_pause_requested_by_fkey FOREIGN KEY (pause_requested_by) REFERENCES users(id),
  constraint runs_pkey PRIMARY KEY (id),
  constraint runs_reasoning_effort_check CHECK ((reasoning_effort = ANY (ARRAY['none'::text, 'minimal'::text, 'low'::text, 'medium'::text, 'high'::text, 'xhigh'::text, 'max'::text]))),
  constraint runs_recovery_cause_check CHECK ((recovery_cause = ANY (ARRAY['lease_lost'::text, 'handed_over'::text]))),
  constraint runs_review_check CHECK ((review = ANY (ARRAY['model'::text, 'rules'::text]))),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'starting'::text, 'running'::text, 'waiting'::text, 'paused'::text, 'cancelling'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
  constraint runs_stop_requested_by_fkey FOREIGN KEY (stop_requested_by) REFERENCES users(id),
  constraint runs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint runs_wait_for_something CHECK (((status = 'waiting'::text) = (waiting_on IS NOT NULL)))
) with (fillfactor=70);
CREATE INDEX runs_alone ON public.runs USING btree (runnable_at) WHERE ((runnable_at IS NOT NULL) AND (stalls > 0));
CREATE INDEX runs_created ON public.runs USING btree (organization_id, created_at);
CREATE INDEX runs_due ON public.runs USING btree (deadline_at) WHERE (status = ANY (ARRAY['queued'::text, 'waiting'::text]));
CREATE INDEX runs_finished ON public.runs USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX runs_kept ON public.runs USING btree (workspace_host) WHERE ((workspace IS NOT NULL) AND (finished_at IS NOT NULL));
CREATE UNIQUE INDEX runs_key ON public.runs USING btree (organization_id, id);
CREATE INDEX runs_listed ON public.runs USING btree (organization_id, archived, id);
CREATE INDEX runs_live ON public.runs USING btree (status) WHERE (status <> ALL (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX runs_of_branch ON public.runs USING btree (organization_id, repository_id, branch) WHERE (branch IS NOT NULL);
CREATE INDEX runs_of_model ON public.runs USING btree (organization_id, archived, model, id);
CREATE INDEX runs_of_parent ON public.runs USING btree (organization_id, parent_run_id) WHERE (parent_run_id IS NOT NULL);
CREATE INDEX runs_of_reason ON public.runs USING btree (organization_id, archived, status_reason, id) WHERE (status_reason IS NOT NULL);
CREATE INDEX runs_of_repository ON public.runs USING btree (organization_id, repository_id);
CREATE INDEX runs_of_repository_status ON public.runs USING btree (organization_id, archived, repository_id, id) INCLUDE (status);
CREATE INDEX runs_of_setup ON public.runs USING btree (organization_id, repository_id, id) WHERE (source_type = 'SETUP_COMMANDS'::text);
CREATE INDEX runs_of_shown_status ON public.runs USING btree (organization_id, archived, status, id) INCLUDE (status_reason, waiting_on, runnable_at);
CREATE INDEX runs_of_source ON public.runs USING btree (organization_id, archived, source_type, id);
CREATE INDEX runs_of_user ON public.runs USING btree (organization_id, archived, user_id, id);
CREATE INDEX runs_owned ON public.runs USING btree (organization_id, id) WHERE (owner IS NOT NULL);
CREATE INDEX runs_queue ON public.runs USING btree (organization_id, recovering_since, runnable_at, id) WHERE (runnable_at IS NOT NULL);
CREATE INDEX runs_waiting_for_checks ON public.runs USING btree (organization_id, repository_id, pushed_sha) WHERE ((status = 'waiting'::text) AND (waiting_on = 'ci'::text));
CREATE INDEX runs_workspaces ON public.runs USING btree (finished_at) WHERE (workspace IS NOT NULL);

create table sandboxes (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  run_id bigint not null,
  kind text not null,
  driver text not null,
  host text not null,
  epoch integer not null,
  state text not null,
  end_reason text,
  limits text not null,
  peak_memory_bytes bigint,
  peak_disk_bytes bigint,
  peak_processes integer,
  cpu_ms bigint,
  memory_kills integer,
  first_seq integer not null,
  last_seq integer,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint sandboxes_check CHECK (((state = ANY (ARRAY['ended'::text, 'lost'::text])) = (ended_at IS NOT NULL))),
  constraint sandboxes_check1 CHECK (((end_reason IS NULL) = (ended_at IS NULL))),
  constraint sandboxes_end_reason_check CHECK ((end_reason = ANY (ARRAY['stopped'::text, 'start_failed'::text, 'died'::text, 'owner_lost'::text]))),
  constraint sandboxes_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'setup'::text, 'check'::text]))),
  constraint sandboxes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint sandboxes_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint sandboxes_pkey PRIMARY KEY (organization_id, id),
  constraint sandboxes_state_check CHECK ((state = ANY (ARRAY['starting'::text, 'running'::text, 'ended'::text, 'lost'::text])))
);
CREATE INDEX sandboxes_alive ON public.sandboxes USING btree (run_id) WHERE (ended_at IS NULL);
CREATE INDEX sandboxes_created ON public.sandboxes USING btree (organization_id, created_at);
CREATE INDEX sandboxes_of_run ON public.sandboxes USING btree (organization_id, run_id, id);

create table secrets (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  repository_id bigint,
  name text not null,
  for_agent boolean not null default false,
  key_id text not null,
  sealed bytea not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  constraint secrets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint secrets_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint secrets_organization_id_repository_id_name_key UNIQUE NULLS NOT DISTINCT (organization_id, repository_id, name),
  constraint secrets_pkey PRIMARY KEY (id),
  constraint secrets_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table setup_commands (
  organization_id bigint not null,
  repository_id bigint not null,
  commands text not null,
  variables text not null,
  on_failure text not null,
  timeout_seconds integer not null,
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  maintenance_commands text not null default '[]'::text,
  constraint setup_commands_on_failure_check CHECK ((on_failure = ANY (ARRAY['fail'::text, 'continue'::text]))),
  constraint setup_commands_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint setup_commands_organization_id_repository_id_fkey FOREIGN KEY (organization_id, repository_id) REFERENCES repositories(organization_id, id),
  constraint setup_commands_pkey PRIMARY KEY (organization_id, repository_id),
  constraint setup_commands_timeout_seconds_check CHECK ((timeout_seconds > 0)),
  constraint setup_commands_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table sign_in_links (
  digest bytea not null,
  user_id bigint not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  login_id uuid not null default gen_random_uuid(),
  login_at timestamp with time zone,
  acceptances uuid[] not null default '{}'::uuid[],
  constraint sign_in_links_pkey PRIMARY KEY (digest),
  constraint sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sign_in_links_of_user ON public.sign_in_links USING btree (user_id);

create table skills (
  organization_id bigint not null,
  name text not null,
  description text not null,
  content text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  constraint skills_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint skills_pkey PRIMARY KEY (organization_id, name),
  constraint skills_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table ticks (
  name text not null,
  taken_at timestamp with time zone not null,
  constraint ticks_pkey PRIMARY KEY (name)
);

create table tokens (
  id bigint not null generated always as identity,
  user_id bigint not null,
  kind text not null,
  name text not null,
  digest bytea not null,
  wire_profile text not null default 'standard'::text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  organization_id bigint,
  scopes text[],
  repository_ids bigint[],
  hint text not null default ''::text,
  last_used_at timestamp with time zone,
  created_by bigint,
  prefix text not null default ''::text,
  login_id uuid not null default gen_random_uuid(),
  login_at timestamp with time zone,
  acceptances uuid[] not null default '{}'::uuid[],
  session_digest bytea,
  oauth_client text,
  constraint tokens_check CHECK (((repository_ids IS NULL) OR (organization_id IS NOT NULL))),
  constraint tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id),
  constraint tokens_digest_key UNIQUE (digest),
  constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['personal'::text, 'service'::text, 'browser'::text]))),
  constraint tokens_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint tokens_pkey PRIMARY KEY (id),
  constraint tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint tokens_wire_profile_check CHECK ((wire_profile = ANY (ARRAY['standard'::text, 'codegen'::text])))
);
CREATE INDEX tokens_expired ON public.tokens USING btree (expires_at) WHERE (kind = 'browser'::text);
CREATE INDEX tokens_of_organization ON public.tokens USING btree (organization_id, id) WHERE (organization_id IS NOT NULL);
CREATE INDEX tokens_of_user ON public.tokens USING btree (user_id, id);

create table usage_days (
  organization_id bigint not null,
  day date not null,
  run_id bigint not null,
  model text not null,
  user_id bigint not null,
  repository_id bigint,
  runs integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_usd numeric not null default 0,
  cost_known boolean not null default true,
  active_ms bigint not null default 0,
  completed_with_reason integer not null default 0,
  estimated_calls integer not null default 0,
  constraint usage_days_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint usage_days_pkey PRIMARY KEY (organization_id, day, run_id, model)
);

create table users (
  id bigint not null generated always as identity,
  email text,
  full_name text,
  github_user_id text not null default ''::text,
  github_username text not null default ''::text,
  avatar_url text,
  created_at timestamp with time zone not null default now(),
  kind text not null default 'person'::text,
  service_organization_id bigint,
  custom_prompt text,
  last_sign_in_at timestamp with time zone,
  custom_prompt_set_at timestamp with time zone,
  constraint users_check CHECK (((kind = 'service'::text) = (service_organization_id IS NOT NULL))),
  constraint users_check1 CHECK (((kind = 'person'::text) OR (email IS NULL))),
  constraint users_email_check CHECK ((email = lower(email))),
  constraint users_kind_check CHECK ((kind = ANY (ARRAY['person'::text, 'service'::text]))),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_service_organization_id_fkey FOREIGN KEY (service_organization_id) REFERENCES organizations(id)
);
CREATE UNIQUE INDEX users_email ON public.users USING btree (email);

create table webhook_attempts (
  organization_id bigint not null,
  delivery_id bigint not null,
  n integer not null,
  url text not null default ''::text,
  started_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  status integer,
  error text,
  latency_ms integer,
  answer text,
  constraint webhook_attempts_organization_id_delivery_id_fkey FOREIGN KEY (organization_id, delivery_id) REFERENCES webhook_deliveries(organization_id, id) ON DELETE CASCADE,
  constraint webhook_attempts_pkey PRIMARY KEY (organization_id, delivery_id, n)
);

create table webhook_deliveries (
  organization_id bigint not null,
  id bigint not null generated always as identity,
  run_id bigint,
  url text,
  message_id uuid not null default gen_random_uuid(),
  event_seq bigint not null,
  type text not null,
  body text not null,
  state text not null,
  error text,
  attempts integer not null default 0,
  tries integer not null default 0,
  last_status integer,
  last_latency_ms integer,
  epoch integer not null default 0,
  lease_until timestamp with time zone,
  next_attempt_at timestamp with time zone,
  give_up_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  deleted_run_id bigint,
  deleted_run_repository_id bigint,
  deleted_run_webhooks text,
  constraint webhook_deliveries_check CHECK (((state = 'pending'::text) = (finished_at IS NULL))),
  constraint webhook_deliveries_check1 CHECK (((state = 'pending'::text) OR ((next_attempt_at IS NULL) AND (lease_until IS NULL)))),
  constraint webhook_deliveries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint webhook_deliveries_organization_id_run_id_fkey FOREIGN KEY (organization_id, run_id) REFERENCES runs(organization_id, id) ON DELETE CASCADE,
  constraint webhook_deliveries_pkey PRIMARY KEY (organization_id, id),
  constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_leased ON public.webhook_deliveries USING btree (organization_id) WHERE (lease_until IS NOT NULL);
CREATE INDEX webhook_deliveries_of_run ON public.webhook_deliveries USING btree (organization_id, run_id, id);
CREATE INDEX webhook_deliveries_of_runs ON public.webhook_deliveries USING btree (organization_id, next_attempt_at) WHERE ((state = 'pending'::text) AND (url IS NOT NULL));
CREATE INDEX webhook_deliveries_of_state ON public.webhook_deliveries USING btree (organization_id, state, id);
CREATE INDEX webhook_deliveries_old ON public.webhook_deliveries USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX webhook_deliveries_own ON public.webhook_deliveries USING btree (organization_id, next_attempt_at) WHERE ((state = 'pending'::text) AND (url IS NULL));

create table webhooks (
  organization_id bigint not null,
  url text not null,
  enabled boolean not null,
  key_id text,
  sealed_secret bytea,
  updated_at timestamp with time zone not null default now(),
  updated_by bigint not null,
  events text[],
  previous_key_id text,
  previous_sealed_secret bytea,
  previous_until timestamp with time zone,
  failures integer not null default 0,
  rests_until timestamp with time zone,
  last_success_at timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_reason text,
  constraint webhooks_check CHECK (((key_id IS NULL) = (sealed_secret IS NULL))),
  constraint webhooks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  constraint webhooks_pkey PRIMARY KEY (organization_id),
  constraint webhooks_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id)
);

create table workers (
  owner text not null,
  host text not null,
  pid integer not null,
  version text not null,
  sandbox text not null,
  concurrency integer not null,
  active integer not null,
  blocked_reason text,
  started_at timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  sandbox_limits text,
  folder_id text,
  constraint workers_pkey PRIMARY KEY (owner)
);

-- extension pg_trgm
-- function charge(text[],text[],integer[],integer[],integer[],bigint[],boolean[])
-- function store_run_tags()
-- function store_run_text()
-- trigger changes_run_tags on runs
-- trigger changes_run_text on runs
-- trigger stores_run_tags on runs
-- trigger stores_run_text on runs
