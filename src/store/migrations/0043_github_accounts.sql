-- The GitHub account by which an organization knows a member; null: the one that the user named. For display, it grants nothing
-- (decisions §248).
alter table memberships add column github_username text, add column github_user_id text;
