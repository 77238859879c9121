-- A code that is presented again revokes the token that was issued for it (RFC 6749, 4.1.2), so a used one is remembered.
alter table authorization_codes add column used_at timestamptz;
