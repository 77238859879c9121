-- What belongs to a run or a repository belongs to the same organization: the organization is part of every key,
-- so that a statement with the wrong one finds nothing and writes nothing, whatever the code above it forgot.

create unique index runs_key on runs (organization_id, id);
drop index runs_of_organization;
create unique index repositories_key on repositories (organization_id, id);

alter table organizations drop constraint organizations_default_repository_id_fkey,
  add foreign key (id, default_repository_id) references repositories (organization_id, id);
alter table runs drop constraint runs_repository_id_fkey, drop constraint runs_parent_run_id_fkey,
  add foreign key (organization_id, repository_id) references repositories (organization_id, id),
  add foreign key (organization_id, parent_run_id) references runs (organization_id, id);
alter table log_entries drop constraint log_entries_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id);
alter table journal drop constraint journal_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id);
alter table messages drop constraint messages_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id);
alter table changes drop constraint changes_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id);
alter table events drop constraint events_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id);
alter table pull_requests drop constraint pull_requests_run_id_fkey, drop constraint pull_requests_repository_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id),
  add foreign key (organization_id, repository_id) references repositories (organization_id, id);
