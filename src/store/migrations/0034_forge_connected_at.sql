-- What was asked on a forge before it was connected is not looked for.
alter table forges add column connected_at timestamptz not null default now();
update forges set connected_at = updated_at;
