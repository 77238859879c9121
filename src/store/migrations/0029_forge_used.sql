-- When the service last had something to do with a forge, within a minute.
alter table forges add column used_at timestamptz;
