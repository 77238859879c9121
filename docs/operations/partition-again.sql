-- Closes the last partition of log_entries, after docs/operations/partition-log-entries.sql was run: later entries go into a new last partition.
-- 1000000 is the lower bound of the last partition, 2000000 a run ID that is not reached before the last step. Run each step separately.

-- Step 1.
set lock_timeout = '2s';
alter table log_entries_last add constraint log_entries_part check (run_id < 2000000) not valid;

-- Step 2.
alter table log_entries_last validate constraint log_entries_part;

-- Step 3.
begin;
set local lock_timeout = '2s';
lock table runs in share row exclusive mode;
lock table log_entries in access exclusive mode;
alter table log_entries detach partition log_entries_last;
alter table log_entries_last rename to log_entries_until_2000000;
alter table log_entries_until_2000000 rename constraint log_entries_last_pkey to log_entries_until_2000000_pkey;
alter table log_entries attach partition log_entries_until_2000000 for values from (1000000) to (2000000);
alter table log_entries_until_2000000 drop constraint log_entries_part;
create table log_entries_last partition of log_entries for values from (2000000) to (maxvalue);
commit;
