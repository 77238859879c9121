import { pause } from '../../core/pause.ts'
import { mcpSignInName } from '../../core/secrets/mcp-credentials.ts'
import {
  type Grant,
  type McpSignIn,
  NOT_SIGNED_IN,
  readSignIn,
  type Tokens,
} from '../../core/secrets/mcp-sign-in.ts'
import { secretContext } from '../../core/secrets/run-secrets.ts'
import type { AccessTokens } from '../../mcp/access-tokens.ts'
import { McpError } from '../../mcp/mcp-error.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import { endRenewal, reserveRenewal } from '../../store/access/mcp-servers.ts'
import { getSealedSecret, replaceSealedSecret } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import type { WorkerServices } from '../services.ts'

/** A token that ends within this time is renewed before it is used. */
const EARLY_MS = 60_000
/** Longer than a renewal takes. */
const RESERVED_SECONDS = 20
const POLL_INTERVAL_MS = 100
const MAX_POLLS = 250

type Deps = Pick<WorkerServices, 'db' | 'sealer' | 'known_values' | 'renewSignIn'>
type Key = { organization_id: number; repository_id: number | null; server: string }

/**
 * Returns the access tokens of the sign-in to a server. A token is renewed by one process at a time and
 * stored before it is used, because servers accept each refresh token once. Rejects with McpError when nobody
 * is signed in.
 */
export function signInTokens(deps: Deps, key: Key): AccessTokens {
  let current: Grant | null = null
  const usable = async (rejected: string | null): Promise<string> => {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      current = requireGrant(await readStored(deps.db, deps, key))
      if (current.access_token !== rejected && !endsSoon(current)) return current.access_token
      const { refresh_token } = current
      if (refresh_token === null) {
        if (current.access_token !== rejected && !hasEnded(current)) return current.access_token
        if (!hasEnded(current))
          await store(deps, key, current, {
            grant: { ...current, expires_at: Date.now() },
            problem: REJECTED,
          })
        throw signedOut('The access of its sign-in has ended')
      }
      const renewed = await renewOnce(deps, key, rejected)
      if (renewed !== null) {
        current = renewed
        return renewed.access_token
      }
      await pause(POLL_INTERVAL_MS)
    }
    throw new McpError('timeout', 'Its sign-in is being renewed by another run, which takes too long.')
  }
  return {
    url: async () => requireGrant(await readStored(deps.db, deps, key)).url,
    current: async () => (current !== null && !endsSoon(current) ? current.access_token : usable(null)),
    replace: async rejected => void (await usable(rejected)),
  }
}

const REJECTED = 'the server no longer accepts the access'
const hasEnded = ({ expires_at }: Tokens) => expires_at !== null && expires_at <= Date.now()
const endsSoon = ({ expires_at }: Tokens) => expires_at !== null && expires_at <= Date.now() + EARLY_MS
const signedOut = (why: string) =>
  new McpError('failed', `${why}: an administrator has to sign in again, in the settings of MCP servers.`)

function requireGrant({ grant, problem }: McpSignIn): Grant {
  if (grant === null)
    throw signedOut(problem === null ? 'Nobody is signed in to it' : `Nobody is signed in to it (${problem})`)
  return grant
}

async function readStored(
  db: Db,
  { sealer }: Pick<WorkerServices, 'sealer' | 'known_values'>,
  { organization_id, repository_id, server }: Key,
  lock = false,
): Promise<McpSignIn> {
  const name = mcpSignInName(server)
  const row = await getSealedSecret(db, organization_id, repository_id, name, lock)
  if (row === undefined) return NOT_SIGNED_IN
  try {
    return readSignIn(sealer.open(secretContext(organization_id, repository_id, name), row))
  } catch {
    throw signedOut('Its sign-in is sealed with another key')
  }
}

/** Renews the tokens, unless another process does. Null: read what is stored again. */
async function renewOnce(deps: Deps, key: Key, rejected: string | null): Promise<Grant | null> {
  const { organization_id, repository_id, server } = key
  const until = await reserveRenewal(deps.db, organization_id, repository_id, server, RESERVED_SECONDS)
  if (until === undefined) return null
  try {
    const grant = requireGrant(await readStored(deps.db, deps, key))
    if (grant.refresh_token === null || (grant.access_token !== rejected && !endsSoon(grant))) return null
    const result = await deps.renewSignIn(organization_id, grant, grant.refresh_token)
    if (!('problem' in result))
      return await store(deps, key, grant, { grant: { ...grant, ...result }, problem: null })
    if (result.ended) {
      await store(deps, key, grant, { grant: null, problem: result.problem })
      return null
    }
    if (grant.access_token !== rejected && !hasEnded(grant)) return grant
    throw new McpError('failed', `Its sign-in could not be renewed: ${result.problem}`)
  } finally {
    await endRenewal(deps.db, organization_id, repository_id, server, until)
  }
}

/**
 * Stores the outcome of a renewal. Null: a person has signed in or changed the server meanwhile, which
 * counts.
 */
async function store(
  deps: Deps,
  key: Key,
  before: Grant,
  outcome: Pick<McpSignIn, 'grant' | 'problem'>,
): Promise<Grant | null> {
  const { organization_id, repository_id, server } = key
  const name = mcpSignInName(server)
  return deps.db.transaction(async tx => {
    const stored = await readStored(tx, deps, key, true)
    if (stored.grant?.refresh_token !== before.refresh_token) return null
    const text = JSON.stringify({ ...stored, ...outcome })
    const sealed = deps.sealer.seal(secretContext(organization_id, repository_id, name), text)
    await replaceSealedSecret(tx, organization_id, repository_id, name, sealed)
    if (outcome.grant === null)
      await insertAuditEntry(tx, {
        organization_id,
        user_id: null,
        token_id: null,
        request_id: null,
        action: 'mcp_server.signed_out',
        target_type: 'mcp_server',
        target_id: server,
        detail: { repo_id: repository_id, problem: outcome.problem },
      })
    return outcome.grant
  })
}
