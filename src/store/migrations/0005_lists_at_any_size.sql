-- without a transaction
-- Lists of runs and pull requests read what they show and little more, however many there are: an index for each filter, in the order of the list.
-- Lists by status and by repository count from the index alone: 10,000 rows of a large table take longer than all the rest.

create index concurrently if not exists runs_of_shown_status on runs (organization_id, archived, status, id) include (status_reason, waiting_on, runnable_at);

create index concurrently if not exists runs_of_reason on runs (organization_id, archived, status_reason, id) where status_reason is not null;

create index concurrently if not exists runs_of_user on runs (organization_id, archived, user_id, id);

create index concurrently if not exists runs_of_model on runs (organization_id, archived, model, id);

create index concurrently if not exists runs_of_source on runs (organization_id, archived, source_type, id);

create index concurrently if not exists runs_of_repository_status on runs (organization_id, archived, repository_id, id) include (status);

create index concurrently if not exists runs_created on runs (organization_id, created_at);

create index concurrently if not exists pull_requests_in_repository on pull_requests (organization_id, repository_id, id);

create index concurrently if not exists pull_requests_of_state on pull_requests (organization_id, state, id);

create index concurrently if not exists pull_requests_proposed on pull_requests (organization_id, created_at) include (run_id);

create index concurrently if not exists audit_entries_created on audit_entries (organization_id, created_at);

create index concurrently if not exists audit_entries_of_user on audit_entries (organization_id, user_id, id);

create index concurrently if not exists audit_entries_of_action on audit_entries (organization_id, action, id);

create index concurrently if not exists webhook_deliveries_of_state on webhook_deliveries (organization_id, state, id);

create index concurrently if not exists sandboxes_created on sandboxes (organization_id, created_at);

-- The texts and tags of the runs that were created before the trigger, in short transactions. A run that is deleted meanwhile waits for its batch.
do $$
declare
  done_until bigint := 0;
  batch_end bigint;
begin
  loop
    select max(id) into batch_end from (select id from runs where id > done_until order by id limit 1000) batch;
    exit when batch_end is null;
    insert into run_texts (organization_id, run_id, text)
      select organization_id, id, lower(title || E'\x1f' || prompt) from runs r
      where id > done_until and id <= batch_end
        and not exists (select from run_texts t where t.organization_id = r.organization_id and t.run_id = r.id)
      for key share on conflict do nothing;
    insert into run_tags (organization_id, tag, run_id)
      select organization_id, unnest(tags), id from runs where id > done_until and id <= batch_end and tags <> '{}'
      on conflict do nothing;
    commit;
    done_until := batch_end;
  end loop;
end
$$;
