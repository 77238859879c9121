-- Forgejo is a Gitea to us.
alter table forges drop constraint forges_kind_check, add constraint forges_kind_check check (kind in ('github', 'gitea'));
