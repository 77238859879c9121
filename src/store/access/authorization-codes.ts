import { type Db, firstRow } from '../database.ts'
import { insertRow } from '../statement.ts'
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

export async function insertAuthorizationCode(
  db: Db,
  code: AuthorizationCode,
  seconds: number,
): Promise<void> {
  await db.query(
    insertRow('authorization_codes', {
      digest: code.digest,
      organization_id: code.organization_id,
      token_id: code.token_id,
      client_digest: code.client_digest,
      redirect_uri: code.redirect_uri,
      challenge: code.challenge,
      expires_at: bind => `now() + make_interval(secs => ${bind(seconds)})`,
    }),
  )
}

type LockedCode = AuthorizationCode & { expired: boolean; used: boolean }

/** Returns a code and holds it, so that it is exchanged once; undefined when it is unknown. */
export function lockAuthorizationCode(db: Db, digest: Buffer): Promise<LockedCode | undefined> {
  return firstRow<LockedCode>(db, {
    name: 'lock_authorization_code',
    text: `select digest, organization_id, token_id, client_digest, redirect_uri, challenge,
        expires_at <= now() as expired, used_at is not null as used
      from authorization_codes
      where digest = $1
      for update`,
    values: [digest],
  })
}

export async function markCodeUsed(
  db: Db,
  { organization_id, digest }: Pick<AuthorizationCode, 'organization_id' | 'digest'>,
): Promise<void> {
  await db.query({
    name: 'mark_code_used',
    text: `update authorization_codes
      set used_at = now()
      where organization_id = $1 and digest = $2`,
    values: [organization_id, digest],
  })
}

/** Deletes used codes whose token is no longer valid: nothing is left to revoke. */
export async function deleteUsedCodes(db: Db): Promise<void> {
  await db.query({
    name: 'delete_used_codes',
    text: `delete from authorization_codes c
      using tokens t
      where t.id = c.token_id
        and t.organization_id = c.organization_id
        and c.used_at is not null
        and (t.revoked_at is not null or t.expires_at <= now())`,
    values: [],
  })
}

/** Revokes the tokens of codes that were not exchanged in time, and deletes the codes. */
export async function revokeUnclaimedTokens(db: Db): Promise<void> {
  await db.query({
    name: 'revoke_unclaimed_tokens',
    text: `with old as (
        delete from authorization_codes
        where expires_at <= now() and used_at is null
        returning token_id
      )
      update tokens
      set revoked_at = now()
      from old
      where tokens.id = old.token_id and tokens.revoked_at is null`,
    values: [],
  })
}

export type ClaimedToken = { scopes: string[] | null; expires_at: Date | null }

/** Gives a token its secret. Undefined: it was revoked meanwhile, for example because its user left. */
export function claimToken(
  db: Db,
  organization_id: number,
  token_id: number,
  secret: { digest: Buffer; prefix: string; hint: string },
): Promise<ClaimedToken | undefined> {
  return firstRow<ClaimedToken>(db, {
    name: 'claim_token',
    text: `update tokens t
      set digest = $3, prefix = $4, hint = $5
      where t.organization_id = $1 and t.id = $2 and ${is_live}
      returning t.scopes, t.expires_at`,
    values: [organization_id, token_id, secret.digest, secret.prefix, secret.hint],
  })
}

/**
 * Revokes the token of a code that was presented too late, twice, by another client, or without its secret.
 */
export async function revokeClaim(db: Db, organization_id: number, token_id: number): Promise<void> {
  await db.query({
    name: 'revoke_claim',
    text: `update tokens
      set revoked_at = now()
      where organization_id = $1 and id = $2 and revoked_at is null`,
    values: [organization_id, token_id],
  })
}
