-- contract
-- Runs that outlive their worker (decisions §1).

alter table runs
  -- Since when the run waits for another worker to go on with it: its lease ended, or its worker gave it back.
  add column recovering_since timestamptz,
  add column recovery_cause text check (recovery_cause in ('lease_lost', 'handed_over')),
  add check ((recovery_cause is null) = (recovering_since is null)),
  -- Leases that ended in this turn.
  add column losses integer not null default 0,
  -- The sandbox of the last owner, in the words of its driver: a new owner on the same machine ends it first.
  add column sandbox text;

-- The lease is renewed every second: no index may hold it, or every renewal would write to all indexes of the row.
update runs set owner = null where lease_until is null;
update runs set owner = 'nobody' where lease_until is not null and owner is null;
drop index runs_leased;
alter table runs add check ((owner is null) = (lease_until is null));
create index runs_owned on runs (organization_id, id) where owner is not null;

-- How long the trace was when a record was written, so that a conversation can be cut at an entry.
alter table journal add column seq integer not null default 0;
alter table journal drop constraint journal_kind_check;
alter table journal add constraint journal_kind_check
  check (kind in ('message', 'model_started', 'model_answered', 'tool_started', 'tool_finished', 'compacted', 'recovered'));

-- Every process that works on runs, as it said last.
create table workers (
  owner text primary key,
  host text not null,
  pid integer not null,
  version text not null,
  sandbox text not null,
  concurrency integer not null,
  active integer not null,
  blocked_reason text,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
