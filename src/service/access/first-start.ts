import type { WireProfile } from '../../contract/organizations/tokens.ts'
import { digest, newToken, tokenPrefix } from '../../core/access/token.ts'
import type { RepositoryKind } from '../../core/repositories/repository-kind.ts'
import { insertMembership, insertUser } from '../../store/access/accounts.ts'
import { lockFirstStart } from '../../store/access/first-start.ts'
import {
  firstOrganization,
  getOrganization,
  insertOrganization,
  setDefaultRepository,
} from '../../store/access/organizations.ts'
import { insertRepository, listRepositories } from '../../store/access/repositories.ts'
import { hasTokens, insertToken, isKnownToken } from '../../store/access/token-access.ts'
import type { Database, Db } from '../../store/database.ts'

export type FirstStartInput = {
  organization_name: string
  /** The operator's own token; null: `createFirstToken` creates one. */
  token: string | null
  wire_profile: WireProfile
  /** Registered, and set as the default when it is new. */
  repository: { name: string; full_name: string; url: string; kind: RepositoryKind } | null
  /**
   * `create` creates the sample repository and returns its address. It is called when there is no repository,
   * or when `forced`.
   */
  sample: { forced: boolean; create: () => Promise<string> }
}

export type FirstStartResult = {
  organization_id: number
  user_id: number
  repository: { id: number; name: string; sample: boolean } | null
}

/**
 * Creates organization, admin, token and repository where they are missing (specification.md#access). Safe
 * when two processes start at once.
 */
export async function firstStart(db: Database, input: FirstStartInput): Promise<FirstStartResult> {
  return db.transaction(async tx => {
    await lockFirstStart(tx)
    const owner = (await firstOrganization(tx)) ?? (await createOwner(tx, input.organization_name))
    if (input.token !== null) await ensureToken(tx, owner.user_id, input.token, input.wire_profile)
    if (input.repository) {
      const { id, created } = await insertRepository(tx, {
        ...input.repository,
        organization_id: owner.organization_id,
        description: null,
        sample: false,
      })
      // Only when it is new: another default may have been chosen since.
      if (created) await setDefaultRepository(tx, owner.organization_id, id)
    }
    const { total } = await listRepositories(tx, owner.organization_id, { skip: 0, limit: 1 })
    if (input.sample.forced || total === 0) {
      const url = await input.sample.create()
      const sample = {
        organization_id: owner.organization_id,
        name: 'invoice',
        full_name: 'sample/invoice',
        url,
        kind: 'local',
        sample: true,
      } as const
      await insertRepository(tx, { ...sample, description: 'A small sample with one failing test' })
    }
    return { ...owner, repository: await shownRepository(tx, owner.organization_id) }
  })
}

async function createOwner(tx: Db, name: string) {
  const organization = await insertOrganization(tx, name)
  const user = await insertUser(tx, { full_name: 'Administrator' })
  await insertMembership(tx, organization.id, user.id, 'ADMIN')
  return { organization_id: organization.id, user_id: user.id }
}

/**
 * Creates the first token and returns it; null when there was one already. It is called when the service is
 * ready, because the token of a start that fails would be shown to nobody. Safe when two processes start at
 * once.
 */
export async function createFirstToken(
  db: Database,
  user_id: number,
  wire_profile: WireProfile,
): Promise<string | null> {
  return db.transaction(async tx => {
    await lockFirstStart(tx)
    if (await hasTokens(tx)) return null
    const token = newToken('p')
    await ensureToken(tx, user_id, token, wire_profile)
    return token
  })
}

/** A revoked token stays revoked, even while the operator's environment still names it. */
async function ensureToken(tx: Db, user_id: number, token: string, wire_profile: WireProfile): Promise<void> {
  if (await isKnownToken(tx, digest(token))) return
  await insertToken(tx, {
    user_id,
    kind: 'personal',
    prefix: tokenPrefix(token),
    hint: token.slice(-4),
    name: 'first token',
    digest: digest(token),
    wire_profile,
    expires_in_seconds: null,
  })
}

async function shownRepository(tx: Db, organization_id: number) {
  const { rows } = await listRepositories(tx, organization_id, { skip: 0, limit: 100 })
  const preferred = (await getOrganization(tx, organization_id))?.default_repository_id
  const row = rows.find(item => item.id === preferred) ?? rows[0]
  return row ? { id: row.id, name: row.full_name, sample: row.sample } : null
}
