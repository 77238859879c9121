-- Codes of sign-ins by OAuth (docs/specification.md#mcp): one is exchanged once, within a minute, for the secret of its token.
create table authorization_codes (
  digest bytea primary key,
  organization_id bigint not null references organizations (id),
  token_id bigint not null unique references tokens (id) on delete cascade,
  client_digest bytea not null,
  redirect_uri text not null,
  challenge text not null,
  expires_at timestamptz not null
);

create index authorization_codes_by_expiry on authorization_codes (expires_at);
