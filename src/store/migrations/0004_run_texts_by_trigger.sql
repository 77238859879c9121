-- The text that a search reads is stored by the database, so that runs of processes of an older version are found too.
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
