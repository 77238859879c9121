-- Up to what the forge of a repository was looked through for requests, by its own clock; null: never.
alter table repositories add column forge_seen_until timestamptz;
-- What was asked before is over: it was told, or nobody looked for it.
alter table repositories add column forge_heard_from timestamptz not null default now();
update repositories set forge_heard_from = forge_seen_at where forge_seen_at is not null;
