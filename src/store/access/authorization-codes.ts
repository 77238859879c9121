import type { Db } from '../database.ts'
import { is_live } from './token-access.ts'

type AuthorizationCode = {
  digest: Buffer
  organization_id: number
  /** A token whose secret nobody has yet. */
  token_id: number
  client_digest: Buffer
  redirect_uri: string
  challenge: string
}

export async function insertAuthorizationCode(db: Db, code: AuthorizationCode, seconds: number): Promise<void> {
  await db.query({
    name: 'insert_authorization_code',
    text: `insert into authorization_codes (digest, organization_id, token_id, client_digest, redirect_uri, challenge, expires_at)
      values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
    values: [code.digest, code.organization_id, code.token_id, code.client_digest, code.redirect_uri, code.challenge, seconds],
  })
}

/** Deletes a code, so that it is exchanged once, and returns it; undefined when it is unknown or used. */
export async function takeAuthorizationCode(db: Db, digest: Buffer): Promise<(AuthorizationCode & { expired: boolean }) | undefined> {
  const { rows } = await db.query<AuthorizationCode & { expired: boolean }>({
    name: 'take_authorization_code',
    text: `delete from authorization_codes where digest = $1
      returning digest, organization_id, token_id, client_digest, redirect_uri, challenge, expires_at <= now() as expired`,
    values: [digest],
  })
  return rows[0]
}

/** Revokes the tokens of codes that were not exchanged in time, and deletes the codes. */
export async function revokeUnclaimedTokens(db: Db): Promise<void> {
  await db.query({
    name: 'revoke_unclaimed_tokens',
    text: `with old as (delete from authorization_codes where expires_at <= now() returning token_id)
      update tokens set revoked_at = now() from old where tokens.id = old.token_id and tokens.revoked_at is null`,
    values: [],
  })
}

export type Claimed = { scopes: string[] | null; expires_at: Date | null }

/** Gives a token its secret. Undefined: it was revoked meanwhile, for example because its user left. */
export async function claimToken(
  db: Db,
  organization_id: number,
  token_id: number,
  secret: { digest: Buffer; prefix: string; hint: string },
): Promise<Claimed | undefined> {
  const { rows } = await db.query<Claimed>({
    name: 'claim_token',
    text: `update tokens t set digest = $3, prefix = $4, hint = $5 where t.organization_id = $1 and t.id = $2 and ${is_live}
      returning t.scopes, t.expires_at`,
    values: [organization_id, token_id, secret.digest, secret.prefix, secret.hint],
  })
  return rows[0]
}

/** Revokes the token of a code that was presented too late, by another client, or without its secret. */
export async function revokeClaim(db: Db, organization_id: number, token_id: number): Promise<void> {
  await db.query({
    name: 'revoke_claim',
    text: 'update tokens set revoked_at = now() where organization_id = $1 and id = $2 and revoked_at is null',
    values: [organization_id, token_id],
  })
}
