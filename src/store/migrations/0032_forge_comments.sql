-- When the forge of a repository was last asked what people wrote there; null: never.
alter table repositories add column forge_seen_at timestamptz;
