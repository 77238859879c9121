-- How many runs a list has, counted in the index: in the table that would read every prompt.
create index runs_listed on runs (organization_id, archived, id);
