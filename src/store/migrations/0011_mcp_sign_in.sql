-- While it is in the future, a process renews the sign-in to this server: its refresh token may be used once.
alter table mcp_servers add column renewing_until timestamptz;
