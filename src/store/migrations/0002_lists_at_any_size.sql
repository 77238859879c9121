-- What a search of runs reads. In a table of its own, because every change of a run's status would write its index again. The indexes of lists
-- and the texts of existing runs come in 0005, without a lock.

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
