-- Forges that an organization is connected to: which one a repository has goes by the address of both.
create table forges (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  kind text not null check (kind in ('github')),
  -- Where people find it, without a path: https://github.com, or a server of one's own.
  url text not null,
  auth text not null check (auth in ('token', 'app')),
  -- As the forge said it last: who we are there, and under which name the app is known.
  login text,
  app_slug text,
  app_id bigint,
  installation_id bigint,
  -- JSON with everything that is secret of it, sealed.
  key_id text not null,
  sealed bytea not null,
  -- Why it did not work when it was last tried; null: it did.
  problem text,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  unique (organization_id, url),
  check ((auth = 'app') = (app_id is not null))
);
create unique index forges_key on forges (organization_id, id);

-- What a forge has told us of, once each, until it is done or left alone.
create table forge_deliveries (
  organization_id bigint not null,
  forge_id bigint not null,
  delivery text not null,
  event text not null,
  -- What the same request is known by, whichever delivery or look brings it; null: there is nothing of the kind.
  once text,
  -- The issue or pull request that somebody asks about: one after the other, and of one run.
  subject text,
  received_at timestamptz not null default now(),
  -- What is to be done, as JSON text; null: nothing, or nothing any more.
  task text,
  tries int not null default 0,
  -- When it is tried next, by whoever comes first; null: it is over.
  next_attempt_at timestamptz,
  outcome text,
  run_id bigint,
  primary key (forge_id, delivery),
  unique (forge_id, once),
  foreign key (organization_id, forge_id) references forges (organization_id, id) on delete cascade,
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id)
);
create index forge_deliveries_due on forge_deliveries (next_attempt_at) where next_attempt_at is not null;
create index forge_deliveries_of_subject on forge_deliveries (forge_id, subject, received_at) where subject is not null;
create index forge_deliveries_old on forge_deliveries (received_at);

-- A pull request that is on a forge, and mirrored here. `remote_draft`: whether it is a draft there, as we said or heard it last.
alter table pull_requests add column remote_number int, add column remote_url text, add column remote_draft boolean,
  add column remote_seen_at timestamptz;
create index pull_requests_remote on pull_requests (remote_seen_at) where remote_number is not null and state in ('open', 'draft');
