-- Runs that say what they wait for, that can be held, and whose every wait has an end (decisions §1, §2).

alter table runs
  -- A pause that was asked for while a worker has the run: it lets go, or the sweep takes the run from it.
  add column pause_requested_at timestamptz,
  add column pause_requested_by bigint references users,
  -- What the turn was worked on, by all its owners.
  add column turn_active_ms bigint not null default 0,
  -- What the model call in flight may cost at most, until its answer tells what it did cost.
  add column reserved_usd numeric not null default 0;

-- A call of the model that ended without an answer, and what is counted for it.
alter table journal drop constraint journal_kind_check, add constraint journal_kind_check check (kind in
  ('message', 'model_started', 'model_answered', 'model_failed', 'tool_started', 'tool_finished', 'compacted', 'recovered'));

update runs set deadline_at = now() + interval '1 day'
  where status not in ('completed', 'failed', 'cancelled', 'paused') and deadline_at is null;

-- Nothing that goes on by itself is without an end in time, and nothing is held, waits or has failed without saying why.
-- expansion: older code gives all of them a deadline but runs that stop, which end by their lease, and a reason always
alter table runs
  add constraint runs_end_in_time check (status in ('completed', 'failed', 'cancelled', 'paused', 'cancelling') or deadline_at is not null),
  add constraint runs_wait_for_something check ((status = 'waiting') = (waiting_on is not null)),
  add constraint runs_have_a_reason check (status not in ('paused', 'failed') or status_reason is not null);

-- What the sweep looks for each second: runs that nobody works on and whose time is over.
create index runs_due on runs (deadline_at) where status in ('queued', 'waiting');
