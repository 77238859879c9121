-- Membership needs the person's acceptance, and an e-mail address is no identity (decisions §244–§247).

-- Open invitations. Accepting, revoking or replacing one deletes its row; the audit log keeps its history.
create table invitations (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations (id),
  email text not null check (email = lower(email)),
  full_name text,
  role text not null check (role in ('ADMIN', 'MANAGER', 'MEMBER', 'READER')),
  digest bytea not null unique,
  created_by bigint references users (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (organization_id, email)
);

-- A login is one proof that somebody controls an account. Everything that is derived from it (session, browser token, link for oneself)
-- keeps its id and time. Null time, as older code writes it: reaches only memberships from before this migration.
alter table tokens add column login_id uuid not null default gen_random_uuid(), add column login_at timestamptz;
alter table browser_sessions add column login_id uuid not null default gen_random_uuid(), add column login_at timestamptz;
alter table sign_in_links add column login_id uuid not null default gen_random_uuid(), add column login_at timestamptz;
update tokens set login_at = created_at;
update browser_sessions set login_at = created_at;

-- The address by which the organization knows the member, when the person accepted, and with which login.
alter table memberships
  add column email text check (email = lower(email)),
  add column accepted_at timestamptz,
  add column login_id uuid;
alter table memberships alter column accepted_at set default clock_timestamp();
update memberships m set email = u.email from users u where u.id = m.user_id;
-- expansion: older code leaves the column null
create unique index memberships_email on memberships (organization_id, email);

-- Whoever was added to a further organization did not accept that: logins from before do not reach it. Organizations that users created
-- themselves, and the first one of each user, stay as they are.
update memberships m set accepted_at = m.created_at
  where exists (select 1 from memberships e where e.user_id = m.user_id and (e.created_at, e.organization_id) < (m.created_at, m.organization_id))
    and not exists (
      select 1 from audit_entries a
      where a.organization_id = m.organization_id and a.user_id = m.user_id and a.action = 'organization.created'
    );
