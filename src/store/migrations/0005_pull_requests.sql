-- What became of a pull request. `merge_attempts`: commits that were, or may have been, pushed to the base branch for it, written down
-- before each push, so that a merge whose end nobody wrote is found again.
alter table pull_requests
  add column merge_sha text,
  add column merged_at timestamptz,
  add column merge_attempts text[] not null default '{}',
  add check ((state = 'merged') = (merged_at is not null)),
  add check ((state = 'merged') = (merge_sha is not null));
create unique index pull_requests_key on pull_requests (organization_id, id);
