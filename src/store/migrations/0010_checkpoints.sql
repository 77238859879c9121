-- Files of runs, kept apart from the machine that works on them (decisions §1, §4).

-- Git's objects as thin packs: each builds on those before it, and on a commit that the repository has.
create table checkpoint_packs (
  organization_id bigint not null,
  run_id bigint not null,
  n integer not null check (n > 0),
  -- The commit that it was made for. The next pack builds on it.
  tip text not null,
  -- The commit of the repository that it builds on; null: of none.
  base_sha text,
  -- Copied from the run that this one was forked from.
  inherited boolean not null default false,
  sha256 bytea not null,
  content bytea not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, run_id, n),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
-- They are compressed already.
alter table checkpoint_packs alter column content set storage external;

create table checkpoints (
  organization_id bigint not null,
  run_id bigint not null,
  -- The files were so after this entry (0: when the run started), and still after that one. 2147483647: to the end, as nobody works on them.
  seq integer not null check (seq >= 0),
  through_seq integer not null,
  -- Packs of the run, counted from the first, that are needed for it.
  packs integer not null,
  base_sha text,
  tree text not null,
  -- Where the workspace stood; null: at no commit, on no branch.
  head text,
  branch text,
  -- Paths that are not in it, as JSON text; null: all are.
  left_out text,
  created_at timestamptz not null default now(),
  check (through_seq >= seq),
  primary key (organization_id, run_id, seq),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);

-- The record of the journal by which a message was delivered.
alter table messages add column delivered_n integer;

create index runs_kept on runs (workspace_host) where workspace is not null and finished_at is not null;
