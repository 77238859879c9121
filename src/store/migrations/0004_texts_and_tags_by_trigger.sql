-- The text that a search reads and the tags of runs are stored by the database, so that runs of processes of an older version are found too.
create function store_run_text() returns trigger language plpgsql as $$
begin
  insert into run_texts (organization_id, run_id, text) values (new.organization_id, new.id, lower(new.title || E'\x1f' || new.prompt))
    on conflict (organization_id, run_id) do update set text = excluded.text where run_texts.text <> excluded.text;
  return null;
end
$$;
create trigger stores_run_text after insert on runs for each row execute function store_run_text();
create trigger changes_run_text after update of title, prompt on runs for each row
  when (new.title <> old.title or new.prompt <> old.prompt) execute function store_run_text();

-- A list of the runs with a tag is in the order of their ids, which an index of arrays does not have.
create table run_tags (
  organization_id bigint not null,
  tag text not null,
  run_id bigint not null,
  primary key (organization_id, tag, run_id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create index run_tags_of_run on run_tags (organization_id, run_id);
create function store_run_tags() returns trigger language plpgsql as $$
begin
  delete from run_tags where organization_id = new.organization_id and run_id = new.id and tag <> all (new.tags);
  insert into run_tags (organization_id, tag, run_id) select distinct new.organization_id, unnest(new.tags), new.id on conflict do nothing;
  return null;
end
$$;
create trigger stores_run_tags after insert on runs for each row when (new.tags <> '{}') execute function store_run_tags();
create trigger changes_run_tags after update of tags on runs for each row when (new.tags <> old.tags) execute function store_run_tags();
