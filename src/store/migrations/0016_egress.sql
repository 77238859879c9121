-- What runs may reach of the network. What a repository has is added to what its organization has; where there is no row nothing was set.
create table egress (
  organization_id bigint not null references organizations,
  -- Null: of the whole organization.
  repository_id bigint,
  -- Null: as the organization has it, or the service.
  mode text check (mode in ('off', 'allowlist')),
  -- Lists as JSON text.
  allow text not null,
  presets text not null,
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  unique nulls not distinct (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);
