alter table runs
  -- The only repositories that the agent may start child runs in, by the tokens of those who talked to it; null: all of its user.
  add column repository_ids bigint[];
