-- What the service says of its runs beside the checks of a commit on a forge: a row for a run and a commit.
create table run_marks (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  run_id bigint,
  -- The run's id, also when it is deleted: it is known by that on the forge.
  number bigint not null,
  repository_id bigint not null,
  head_sha text not null,
  -- The run has pushed it; otherwise it was asked for on a pull request of that head.
  pushed boolean not null,
  -- Counts what may have changed of what is to be said, and up to where that is said.
  change int not null default 1,
  said int not null default 0,
  -- What stands there; null: nobody knows.
  said_as text,
  tries int not null default 0,
  try_at timestamptz not null default now(),
  -- Why it could not be said when that was last tried.
  problem text,
  primary key (organization_id, id),
  unique (organization_id, number, head_sha),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);
create index run_marks_of_run on run_marks (organization_id, run_id);
create index run_marks_due on run_marks (try_at) where said < change or run_id is null;
