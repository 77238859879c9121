alter table pull_requests
  -- A draft because its evaluation has not passed yet, and not because a person wants it so.
  add column held_back boolean not null default false;

alter table runs
  -- The head whose push a person is asked to approve, and the one that somebody has approved.
  add column approval_sha text,
  add column approved_sha text;
