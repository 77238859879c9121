-- Calls of models of which at least one count is estimated.

alter table runs add column estimated_calls integer not null default 0;
alter table usage_days add column estimated_calls integer not null default 0;
