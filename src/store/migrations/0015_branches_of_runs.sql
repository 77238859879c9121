-- What the names of branches of runs begin with, for servers that accept only some names; null: as the organization, or `agent/`. A run keeps the
-- prefix that it was created with.

alter table organizations add column branch_prefix text;
alter table repositories add column branch_prefix text;
alter table runs add column branch_prefix text;

-- Nobody named a base: the run starts from the default branch that the remote has at its start, which may have been renamed since the create.

alter table runs add column from_default_branch boolean not null default false;
