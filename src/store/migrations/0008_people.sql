-- People, service users and their tokens (decisions §9).

-- One address, one person: lower case here, whatever was typed.
alter table users
  add column last_sign_in_at timestamptz,
  add check (email = lower(email)),
  add check (kind = 'person' or email is null);
create unique index users_email on users (email);
update users u set last_sign_in_at = l.used_at
  from (select user_id, max(used_at) as used_at from sign_in_links group by user_id) l where l.user_id = u.id;

alter table memberships add column created_at timestamptz not null default now();
create index memberships_of_user on memberships (user_id);
create index sign_in_links_of_user on sign_in_links (user_id);

-- The part of a token before its secret, for its owner to tell what it is; empty for one that the operator chose.
alter table tokens add column prefix text not null default '';
