-- Who may do what, how often, and who did what (decisions §4, §7, §9).

-- A service user belongs to one organization and never signs in: its tokens are made by an administrator.
alter table users
  add column kind text not null default 'person' check (kind in ('person', 'service')),
  add column service_organization_id bigint references organizations (id),
  add check ((kind = 'service') = (service_organization_id is not null));

-- Null bounds nothing: every organization of the user, whatever the role allows, every repository.
alter table tokens drop constraint tokens_kind_check;
alter table tokens
  add check (kind in ('personal', 'service', 'browser')),
  add column organization_id bigint references organizations (id),
  add column scopes text[],
  add column repository_ids bigint[],
  -- The last four characters, so that its owner can tell it from others.
  add column hint text not null default '',
  add column last_used_at timestamptz,
  add column created_by bigint references users (id),
  add check (repository_ids is null or organization_id is not null);
create index tokens_of_organization on tokens (organization_id, id) where organization_id is not null;
create index tokens_of_user on tokens (user_id, id);

-- Who did what. Rows are added and read, never changed.
create table audit_entries (
  organization_id bigint not null references organizations (id),
  id bigint generated always as identity,
  created_at timestamptz not null default now(),
  user_id bigint references users (id),
  token_id bigint,
  action text not null,
  target_type text not null,
  target_id text,
  detail text not null,
  request_id text,
  primary key (organization_id, id)
);

-- A sliding log for each subject and bucket: when requests came, in microseconds, and how many at each time.
-- Unlogged: a limit need not survive a crash of the database, and must not cost a flush to disk.
create unlogged table rate_windows (
  subject text not null,
  bucket text not null,
  hits bigint[] not null default '{}',
  counts integer[] not null default '{}',
  primary key (subject, bucket)
);

-- Charges all of the given windows or, when one that may refuse has no room, none. Exact in any window of time and over all nodes: the rows
-- are locked before the clock is read. Hits of one slice are counted together under the time of the last, so they never leave too early.
create function charge(
  p_subjects text[], p_buckets text[], p_amounts integer[], p_limits integer[], p_windows_ms integer[], p_slices_us bigint[],
  p_refusing boolean[]
) returns table (place integer, allowed boolean, used integer, reset_ms integer, retry_ms integer)
language plpgsql as $$
declare
  everything boolean := true;
  clock bigint;
  since bigint;
  h bigint[];
  c integer[];
  total integer;
  freed integer;
begin
  insert into rate_windows (subject, bucket)
    select s, b from unnest(p_subjects, p_buckets) as given (s, b) order by s, b on conflict do nothing;
  perform 1 from rate_windows w join unnest(p_subjects, p_buckets) as given (s, b) on w.subject = given.s and w.bucket = given.b
    order by w.subject, w.bucket for update of w;
  clock := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
  for i in 1 .. cardinality(p_subjects) loop
    since := clock - p_windows_ms[i] * 1000::bigint;
    select coalesce(sum(n), 0) into total from rate_windows w, unnest(w.hits, w.counts) as hit (t, n)
      where w.subject = p_subjects[i] and w.bucket = p_buckets[i] and t > since;
    if p_refusing[i] and total + p_amounts[i] > p_limits[i] then everything := false; end if;
  end loop;
  for i in 1 .. cardinality(p_subjects) loop
    since := clock - p_windows_ms[i] * 1000::bigint;
    select coalesce(array_agg(t order by o), '{}'), coalesce(array_agg(n order by o), '{}'), coalesce(sum(n), 0) into h, c, total
      from rate_windows w, unnest(w.hits, w.counts) with ordinality as hit (t, n, o)
      where w.subject = p_subjects[i] and w.bucket = p_buckets[i] and t > since;
    if everything then
      if cardinality(h) > 0 and h[cardinality(h)] / p_slices_us[i] = clock / p_slices_us[i] then
        c[cardinality(c)] := c[cardinality(c)] + p_amounts[i];
        h[cardinality(h)] := clock;
      else
        h := h || clock;
        c := c || p_amounts[i];
      end if;
      total := total + p_amounts[i];
      -- A window that only counts would grow without end; what is beyond its limit says nothing more.
      while total - c[1] >= p_limits[i] and cardinality(h) > 1 loop
        total := total - c[1];
        h := h[2:];
        c := c[2:];
      end loop;
      update rate_windows w set hits = h, counts = c where w.subject = p_subjects[i] and w.bucket = p_buckets[i];
    end if;
    place := i;
    allowed := everything;
    used := total;
    reset_ms := coalesce((h[cardinality(h)] - since + 999) / 1000, 0);
    -- How long until there is room for one more.
    freed := 0;
    retry_ms := 0;
    for n in 1 .. cardinality(h) loop
      exit when total - freed + 1 <= p_limits[i];
      freed := freed + c[n];
      retry_ms := (h[n] - since + 999) / 1000;
    end loop;
    return next;
  end loop;
end
$$;

-- The answer to a request that may be sent again (decisions §4). A row without an answer: the work is under way, or never came to its end.
create table idempotency_keys (
  organization_id bigint not null references organizations (id),
  user_id bigint not null references users (id),
  key text not null,
  created_at timestamptz not null default now(),
  request_digest bytea,
  answer text,
  primary key (organization_id, user_id, key)
);
create index idempotency_keys_old on idempotency_keys (created_at);
