-- How the sandbox of a repository's runs is prepared before their agent begins; no row: not at all.
create table setup_commands (
  organization_id bigint not null references organizations,
  repository_id bigint not null,
  -- Lists and maps as JSON text.
  commands text not null,
  variables text not null,
  on_failure text not null check (on_failure in ('fail', 'continue')),
  timeout_seconds int not null check (timeout_seconds > 0),
  updated_at timestamptz not null default now(),
  updated_by bigint not null references users,
  primary key (organization_id, repository_id),
  foreign key (organization_id, repository_id) references repositories (organization_id, id)
);

-- What these commands may reach; null: as the organization has it, or the service.
alter table egress add column setup_mode text check (setup_mode in ('off', 'allowlist', 'open'));

-- What was made when a workspace was set up. Not checked against the rows that are there: they met a narrower rule.
alter table journal drop constraint journal_kind_check, add constraint journal_kind_check check (kind in
  ('message', 'model_started', 'model_answered', 'model_failed', 'tool_started', 'tool_finished', 'compacted', 'recovered',
   'commit_started', 'push_started', 'set_up')) not valid;
