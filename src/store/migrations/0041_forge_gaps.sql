-- What the credentials of a connection may not read or do in a repository, as its forge reported last: a row per missing permission.
create table forge_gaps (
  organization_id bigint not null references organizations,
  forge_id bigint not null,
  repository_id bigint not null,
  resource text not null,
  -- The forge's own message.
  detail text not null,
  noticed_at timestamptz not null default now(),
  primary key (organization_id, repository_id, forge_id, resource),
  foreign key (organization_id, forge_id) references forges (organization_id, id) on delete cascade,
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);
create index forge_gaps_of_forge on forge_gaps (organization_id, forge_id);
