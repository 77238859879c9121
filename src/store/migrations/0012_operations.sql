-- What the operator looks at.

-- How many runs there are of each status that has not ended, without a look at those that have.
create index runs_live on runs (status) where status not in ('completed', 'failed', 'cancelled');

-- In which trace (W3C Trace Context) a turn was asked for: the spans of whoever works on it go below it.
alter table runs add column traceparent text;
