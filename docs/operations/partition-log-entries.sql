-- Partitions log_entries by the ID of the run, online and without copying a row. docs/operations/sizing.md says when and why.
-- Run each step separately, as the owner of the tables. 1000000 stands for a run ID that is not reached before the last step:
-- the highest one, plus as many as are created in an hour.

-- Step 1. From now on this table accepts no entry of a later run. It is locked for a moment.
set lock_timeout = '2s';
alter table log_entries add constraint log_entries_part check (run_id < 1000000) not valid;

-- Step 2. Verifies this for the existing entries. It reads the table once; others can read and write meanwhile.
alter table log_entries validate constraint log_entries_part;

-- Step 3. The table becomes the first partition of a new table with its name, which is locked for some milliseconds. If the lock is not
-- available within two seconds, the transaction fails and changes nothing: run the step again.
begin;
set local lock_timeout = '2s';
lock table runs in share row exclusive mode;
lock table log_entries in access exclusive mode;
alter table log_entries rename to log_entries_until_1000000;
alter table log_entries_until_1000000 rename constraint log_entries_pkey to log_entries_until_1000000_pkey;
create table log_entries (like log_entries_until_1000000 including defaults including storage) partition by range (run_id);
alter table log_entries add primary key (run_id, seq),
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade;
alter table log_entries attach partition log_entries_until_1000000 for values from (minvalue) to (1000000);
alter table log_entries_until_1000000 drop constraint log_entries_part;
create table log_entries_last partition of log_entries for values from (1000000) to (maxvalue);
commit;
