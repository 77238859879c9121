-- When what one process at a time is to do every so often was done last.
create table turns (
  name text primary key,
  taken_at timestamptz not null
);
