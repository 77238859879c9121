-- Globs of files whose change waits for an approval before it is pushed, in addition to those of the service; null: none.
alter table organizations add column approval_paths text[];
