-- How often in this turn the process of a run was lost while its event loop was stalled by the run, and in which epoch that is so now.
alter table runs add column stalls integer not null default 0, add column stalled_epoch integer;
