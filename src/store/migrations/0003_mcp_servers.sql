-- MCP servers whose tools agents use. Their credentials are secrets of the same organization or repository.

create table mcp_servers (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations,
  -- Null: it applies to the whole organization.
  repository_id bigint,
  name text not null,
  -- JSON: its program or its address, and which of its tools agents get.
  settings text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  unique nulls not distinct (organization_id, repository_id, name),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- Whether runs use the servers that a repository's own .mcp.json names.
alter table repositories add column use_mcp_file boolean not null default false;
