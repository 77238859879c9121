-- What an organization sets for its runs.
alter table organizations
  add column default_model text,
  add column rules text;
