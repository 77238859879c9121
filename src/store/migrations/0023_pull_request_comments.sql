-- What people, and runs, say of a pull request. `line` counts in `path` as it is at `head_sha` (side RIGHT) or at the base (LEFT).
create table pull_request_comments (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  pull_request_id bigint not null,
  -- Who wrote it: one of the two; neither when it was a run that is deleted.
  user_id bigint references users,
  run_id bigint,
  body text not null,
  path text,
  line int check (line > 0),
  side text check (side in ('LEFT', 'RIGHT')),
  head_sha text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, pull_request_id) references pull_requests (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id),
  check (user_id is null or run_id is null),
  check (line is null or path is not null),
  check ((side is null) = (line is null))
);
create index pull_request_comments_in_order on pull_request_comments (organization_id, pull_request_id, id);
create index pull_request_comments_of_run on pull_request_comments (organization_id, run_id) where run_id is not null;
