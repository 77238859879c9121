-- What the remote has been given, apart from what the run has committed: a push that failed is made up for by the next turn.
alter table runs add column pushed_sha text;
