-- without a transaction
-- Each claim reads whether a run waits for a process of its own. There is hardly ever one.

create index concurrently if not exists runs_alone on runs (runnable_at) where runnable_at is not null and stalls > 0;
