-- What is reported to webhooks: written with the event itself, sent at least once, in the order of each run.
alter table webhooks
  -- The kinds of events that are sent; null: all.
  add column events text[],
  -- The secret of before, which signs too until then.
  add column previous_key_id text,
  add column previous_sealed_secret bytea,
  add column previous_until timestamptz,
  -- Attempts that failed since the last that did not, and until when nothing is sent because of them.
  add column failures integer not null default 0,
  add column rests_until timestamptz,
  add column last_success_at timestamptz,
  -- Why the service switched it off, and when.
  add column disabled_at timestamptz,
  add column disabled_reason text;

create table webhook_deliveries (
  organization_id bigint not null references organizations,
  id bigint generated always as identity,
  run_id bigint not null,
  -- Null: to the organization's webhook, wherever that is by then.
  url text,
  message_id uuid not null default gen_random_uuid(),
  event_seq bigint not null,
  type text not null,
  body text not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  error text,
  -- In all, and since it was last put into the queue.
  attempts integer not null default 0,
  tries integer not null default 0,
  last_status integer,
  last_latency_ms integer,
  epoch integer not null default 0,
  lease_until timestamptz,
  -- Null: over, or behind an earlier one of its run.
  next_attempt_at timestamptz,
  give_up_at timestamptz not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade,
  check ((state = 'pending') = (finished_at is null)),
  check (state = 'pending' or (next_attempt_at is null and lease_until is null))
);
create index webhook_deliveries_of_run on webhook_deliveries (organization_id, run_id, id);
create index webhook_deliveries_due on webhook_deliveries (organization_id, (url is null), next_attempt_at) where state = 'pending';
create index webhook_deliveries_old on webhook_deliveries (finished_at) where finished_at is not null;

create table webhook_attempts (
  organization_id bigint not null,
  delivery_id bigint not null,
  n integer not null,
  url text not null default '',
  started_at timestamptz not null default now(),
  -- Null until it is known what became of it, and for ever where nobody lived to know it.
  finished_at timestamptz,
  status integer,
  error text,
  latency_ms integer,
  answer text,
  primary key (organization_id, delivery_id, n),
  foreign key (organization_id, delivery_id) references webhook_deliveries (organization_id, id) on delete cascade
);
