-- Claims that are fair between organizations, and runs that end by age (decisions §1, §9).

-- The queue of each organization in the order in which its runs are claimed: those that recover first (nulls come last), then the longest waiting.
create index runs_queue on runs (organization_id, recovering_since, runnable_at, id) where runnable_at is not null;
drop index runs_runnable;

-- What retention removes.
create index runs_finished on runs (finished_at) where finished_at is not null;
create index events_of_deleted on events (created_at) where run_id is null;
