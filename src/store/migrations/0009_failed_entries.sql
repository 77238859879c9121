-- without a transaction
-- The failures of a trace are found without a read of its other entries.

create index concurrently if not exists log_entries_failed on log_entries (organization_id, run_id, seq) where failed;
