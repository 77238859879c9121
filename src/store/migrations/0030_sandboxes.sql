-- A sandbox that a run has started: what it was for, how long it was there and what it took. What went on in it stands in the trace of the run.
create table sandboxes (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  run_id bigint not null,
  kind text not null check (kind in ('agent', 'setup', 'check')),
  driver text not null,
  -- The machine, and the epoch of the owner of the run that started it.
  host text not null,
  epoch int not null,
  state text not null check (state in ('starting', 'running', 'ended', 'lost')),
  end_reason text check (end_reason in ('stopped', 'start_failed', 'died', 'owner_lost')),
  -- JSON text.
  limits text not null,
  -- Null: nobody has counted it.
  peak_memory_bytes bigint,
  peak_disk_bytes bigint,
  peak_processes int,
  cpu_ms bigint,
  memory_kills int,
  -- Entries of the run while it was there; `last_seq` is null as long as it is.
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
create index sandboxes_of_run on sandboxes (organization_id, run_id, id);
-- Those whose owner may be gone.
create index sandboxes_alive on sandboxes (run_id) where ended_at is null;
