-- Lists of runs and pull requests read what they show and little more, however many there are: an index for each filter, in the order of the list.

create index runs_of_status on runs (organization_id, archived, status, id);
create index runs_of_reason on runs (organization_id, archived, status_reason, id) where status_reason is not null;
create index runs_of_user on runs (organization_id, archived, user_id, id);
create index runs_of_model on runs (organization_id, archived, model, id);
create index runs_of_source on runs (organization_id, archived, source_type, id);
create index runs_in_repository on runs (organization_id, archived, repository_id, id);
create index runs_created on runs (organization_id, created_at);
create index runs_tagged on runs using gin (tags) where tags <> '{}';

create index pull_requests_in_repository on pull_requests (organization_id, repository_id, id);
create index pull_requests_of_state on pull_requests (organization_id, state, id);
create index pull_requests_proposed on pull_requests (organization_id, created_at) include (run_id);

create index audit_entries_created on audit_entries (organization_id, created_at);
create index audit_entries_of_user on audit_entries (organization_id, user_id, id);
create index audit_entries_of_action on audit_entries (organization_id, action, id);

create index webhook_deliveries_of_state on webhook_deliveries (organization_id, state, id);
create index sandboxes_created on sandboxes (organization_id, created_at);

-- What a search of runs reads. In a table of its own, because every change of a run's status would write its index again.
create table run_texts (
  organization_id bigint not null,
  run_id bigint not null,
  -- Title and prompt in lower case, with a character between them that neither has.
  text text not null,
  primary key (organization_id, run_id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
-- A search is planned by how often its text occurs.
alter table run_texts alter column text set statistics 400;
insert into run_texts (organization_id, run_id, text) select organization_id, id, lower(title || E'\x1f' || prompt) from runs;

-- The extension is part of PostgreSQL, but a server may lack its additional modules: a search then reads all texts of the organization.
do $$
begin
  create extension if not exists pg_trgm;
  create index run_texts_trigrams on run_texts using gin (text gin_trgm_ops);
exception
  when undefined_file or feature_not_supported or insufficient_privilege or undefined_object then
    raise notice 'pg_trgm is not available: a search of runs reads all texts';
end
$$;
