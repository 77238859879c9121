-- What an organization sets for its runs.
alter table organizations
  add column default_model text,
  add column rules text,
  -- Runs that may be at work at the same time; null: no bound.
  add column max_concurrent_runs int check (max_concurrent_runs > 0);
