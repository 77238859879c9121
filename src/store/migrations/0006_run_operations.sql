-- Runs that are banned, deleted or removed from their pull request, and the whole output of their tools (decisions §4, §5).

alter table runs
  -- Stopped for good: no resume and no check starts it again until the ban is lifted.
  add column banned boolean not null default false,
  -- Branches that the run gave up, with the last commit that it pushed to one: what comes later goes to a branch of a new name.
  add column branches_let_go int not null default 0,
  add column let_go_sha text,
  -- What the run's artifacts hold together.
  add column artifact_bytes bigint not null default 0;

-- Runs from before `pushed_sha`: what was proposed had been pushed.
update runs r set pushed_sha = p.head_sha from pull_requests p
  where p.organization_id = r.organization_id and p.run_id = r.id and p.head_branch = r.branch and r.pushed_sha is null;

-- The whole output of a tool whose entry shows only the head and the tail of it.
create table artifacts (
  id bigint generated always as identity,
  organization_id bigint not null,
  run_id bigint not null,
  -- The entry whose output it is.
  seq int not null,
  content_type text not null,
  content bytea not null,
  -- Bytes there were in all; more than the content has when that too was cut.
  total_bytes bigint not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade
);
create index artifacts_of_run on artifacts (run_id);

-- Folders of runs that were deleted, for the sweep of the machine that has them.
create table leftover_workspaces (
  organization_id bigint not null references organizations (id),
  run_id bigint not null,
  workspace text not null,
  host text not null,
  primary key (organization_id, run_id)
);
create index leftover_workspaces_of_host on leftover_workspaces (host);

-- What belongs to a run goes with it. Its children and its pull requests stay, without it.
alter table log_entries drop constraint log_entries_organization_id_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade;
alter table journal drop constraint journal_organization_id_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade;
alter table messages drop constraint messages_organization_id_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade;
alter table changes drop constraint changes_organization_id_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade;
-- Null for the event of a deletion, which outlives its run.
alter table events alter column run_id drop not null, drop constraint events_organization_id_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete cascade;
alter table pull_requests alter column run_id drop not null, drop constraint pull_requests_organization_id_run_id_fkey,
  add foreign key (organization_id, run_id) references runs (organization_id, id) on delete set null (run_id);
alter table runs drop constraint runs_organization_id_parent_run_id_fkey,
  add foreign key (organization_id, parent_run_id) references runs (organization_id, id) on delete set null (parent_run_id);

-- Whose branch a pull request is of.
create index runs_of_branch on runs (organization_id, repository_id, branch) where branch is not null;
-- Each of these references is looked for when a run is deleted.
create index runs_of_parent on runs (organization_id, parent_run_id) where parent_run_id is not null;
create index messages_of_run on messages (run_id);
create index events_of_run on events (organization_id, run_id);
