-- By what a worker holds the limits of its sandboxes: JSON of memory, cpu and processes. Null: it starts none, or is of the version before.
alter table workers add column sandbox_limits text;
