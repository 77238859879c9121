-- Of the completed turns those that did not do everything that was requested.

alter table usage_days add column completed_with_reason integer not null default 0;
