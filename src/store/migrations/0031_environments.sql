-- What setup commands have prepared on one machine, for all runs that would get the same: its files are a template in the data folder.
create table environments (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  repository_id bigint not null,
  -- The data folder that has it, and its name there.
  folder_id text not null,
  template text not null,
  -- Of commands, variables, manifests, ref and toolchain: what has another key is another environment.
  key text not null,
  setup_digest text not null,
  -- Of the names and contents of its manifests alone.
  manifests_digest text not null,
  base_ref text not null,
  base_sha text not null,
  -- What the commands made beside the repository's own files, as JSON text.
  left_out text not null,
  -- Of names, kinds, sizes and times of change of all files, looked at again before an agent sees them.
  digest text not null,
  bytes bigint not null,
  setup_ms bigint not null,
  run_id bigint not null,
  made_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  uses int not null default 0,
  primary key (organization_id, id),
  unique (organization_id, repository_id, folder_id, key),
  unique (folder_id, template),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- What runs in an environment that was made at another commit, as JSON text.
alter table setup_commands add column maintenance_commands text not null default '[]';

-- What the first turn of a run took until its agent acted, in milliseconds; null: that was not reached, or is not a part of this run's start.
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
  -- The environment that it stood on, as it was then.
  environment text,
  primary key (organization_id, run_id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create index run_startups_by_repository on run_startups (organization_id, repository_id, started_at);
