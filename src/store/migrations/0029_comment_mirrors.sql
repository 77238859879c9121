-- What people say here of a pull request that is on a forge, for the forge to have it too: a row for a comment, until it is deleted here and there.
create table comment_mirrors (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  -- Of a comment that may be deleted.
  comment_id bigint not null,
  pull_request_id bigint not null,
  repository_id bigint not null,
  -- As in run_marks.
  change int not null default 1,
  said int not null default 0,
  said_as text,
  tries int not null default 0,
  try_at timestamptz not null default now(),
  problem text,
  primary key (organization_id, id),
  unique (organization_id, comment_id),
  foreign key (organization_id, pull_request_id) references pull_requests (organization_id, id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);
create index comment_mirrors_due on comment_mirrors (try_at) where said < change;
create index comment_mirrors_in_order on comment_mirrors (organization_id, pull_request_id, id) where said < change;
