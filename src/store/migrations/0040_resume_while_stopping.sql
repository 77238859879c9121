-- A follow-up to a run that is being stopped waits for its worker to let go: then the run gets a new turn. A later stop takes it back.
alter table runs add column resume_requested_at timestamptz;
