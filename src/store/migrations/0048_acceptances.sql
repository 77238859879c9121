-- A membership is reached by the credential that accepted it, not by all that share its login: a link for oneself shares the login of who
-- created it (decisions §245). The columns `login_id` stay for older code and are not read any more.
alter table memberships add column acceptance_id uuid not null default gen_random_uuid();
-- The acceptances of a credential that are younger than its login.
alter table tokens add column acceptances uuid[] not null default '{}';
alter table browser_sessions add column acceptances uuid[] not null default '{}';
alter table sign_in_links add column acceptances uuid[] not null default '{}';
-- The session that a browser token belongs to; null for other tokens, and for those of older code.
alter table tokens add column session_digest bytea;

-- A login that one session or token alone has keeps what it accepted. Of several that share one nobody knows which accepted.
with sole as (
  select login_id, (array_agg(session))[1] as session from (
    select login_id, digest as session from browser_sessions where expires_at > now()
    union all select login_id, null from sign_in_links where used_at is null and expires_at > now()
    union all select login_id, null from tokens where kind <> 'browser' and revoked_at is null and (expires_at is null or expires_at > now())
  ) held group by login_id having count(*) = 1
), signed_in as (
  update browser_sessions s
    set acceptances = array(select m.acceptance_id from memberships m where m.user_id = s.user_id and m.login_id = s.login_id)
    from sole where sole.login_id = s.login_id
)
update tokens t
  set acceptances = array(select m.acceptance_id from memberships m where m.user_id = t.user_id and m.login_id = t.login_id),
    session_digest = case when t.kind = 'browser' then sole.session end
  from sole where sole.login_id = t.login_id;

-- When the user's text for agents was set: it holds in the organizations that were joined before. Null, for texts from before this
-- migration: it holds only in memberships from before invitations existed, because nobody knows who set it.
alter table users add column custom_prompt_set_at timestamptz;
