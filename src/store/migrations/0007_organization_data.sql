-- What an organization sets for its runs.
alter table organizations
  add column default_model text,
  add column rules text,
  -- Runs that may be at work at the same time; null: no bound.
  add column max_concurrent_runs int check (max_concurrent_runs > 0);

-- Of a month (UTC): what its runs may cost, and how many there may be. Null: no bound.
alter table organizations
  add column budget_usd_per_month numeric check (budget_usd_per_month >= 0),
  add column runs_per_month int check (runs_per_month >= 0);

-- What runs used, by day (UTC) and model. Nothing here refers to a run: what was spent stays spent when the run is deleted.
create table usage_days (
  organization_id bigint not null references organizations,
  day date not null,
  run_id bigint not null,
  model text not null,
  user_id bigint not null,
  repository_id bigint,
  -- Runs made (1 or 0), and turns ended.
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
-- Of runs from before, only the sum is known: it is counted for the day that they were made.
insert into usage_days select organization_id, (created_at at time zone 'utc')::date, id, model, user_id, repository_id, 1,
  (status = 'completed')::int, (status = 'failed')::int, (status = 'cancelled')::int,
  input_tokens, output_tokens, cached_tokens, cost_usd, cost_known, active_ms from runs;

-- A removed repository stays as a row, for the runs that it had; its address may be registered again.
alter table repositories
  add column removed_at timestamptz,
  add column base_branch text,
  drop constraint repositories_organization_id_url_key;
create unique index repositories_url on repositories (organization_id, url) where removed_at is null;
create index runs_of_repository on runs (organization_id, repository_id);

-- How runs treat failing checks of a repository. Lists and objects are JSON text, as they were sent; absent: the defaults.
create table check_suite_settings (
  organization_id bigint not null,
  repository_id bigint not null,
  check_retry_count int check (check_retry_count between 0 and 10),
  ignored_checks text,
  check_retry_counts text,
  custom_prompts text,
  high_priority_apps text,
  updated_at timestamptz not null default now(),
  primary key (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- What a user wants to be said to the agents of their runs.
alter table users add column custom_prompt text;

-- Values that runs are given and that nobody reads back: encrypted, bound to their place, with the name of the key that did it.
create table secrets (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  -- Null: of the whole organization.
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

-- Where an organization's runs are reported. The secret that signs it is sealed like the others.
create table webhooks (
  organization_id bigint primary key references organizations,
  url text not null,
  enabled boolean not null,
  key_id text,
  sealed_secret bytea,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  check ((key_id is null) = (sealed_secret is null))
);
