import { type ForgeRepository, repositoryOn } from '../core/forges/forge-address.ts'
import { type ForgeSecrets, openForgeSecrets } from '../core/forges/forge-secrets.ts'
import type { HostLookup } from '../core/network/public-address.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Db } from '../store/database.ts'
import { type ForgeRow, listForges, recordForgeUse } from '../store/forges/forges.ts'
import { giteaForge } from './gitea/gitea.ts'
import { type ConvertedApp, convertManifest } from './github/app-manifest.ts'
import type { GitHubCredentials } from './github/client.ts'
import { githubForge } from './github/github.ts'
import type { PlainFetch } from './one-origin-fetch.ts'
import { ForgeError, type RemoteForge } from './port.ts'
import { conditionalFetch, ResponseCache } from './response-cache.ts'

/** A repository on a forge that its organization is connected to. */
export type OnForge = {
  connection_id: number
  login: string | null
  forge: RemoteForge
  repository: ForgeRepository
}
type Repository = { organization_id: number; url: string; kind: 'https' | 'http' | 'ssh' | 'local' }

/** The address of a forge and the credentials for it. */
type ForgeTarget =
  | { kind: 'github'; url: string; credentials: GitHubCredentials }
  | { kind: 'gitea'; url: string; token: string }

/** The forges of all organizations, by their connections. */
export type Forges = {
  /** The forge of that repository. Null: no connected one, so its pull requests exist here only. */
  of(repository: Repository): Promise<OnForge | null>
  /** Credentials of git for the repository, or null. Never for another origin than the connected one. */
  gitCredentials(repository: Repository): Promise<{ username: string; password: string } | null>
  /** A connection by its row. ForgeError `auth` when its credentials cannot be opened. */
  open(row: ForgeRow): RemoteForge
  /** Resolves the host of a forge's address, without a request to the forge. */
  lookUp(organization_id: number, url: string): Promise<HostLookup>
  /** A forge with these credentials, before it is connected. */
  tryOut(organization_id: number, target: ForgeTarget): RemoteForge
  /** The app that a forge has created from a manifest of ours. */
  convertManifest(organization_id: number, origin: string, code: string): Promise<ConvertedApp>
}

type Deps = {
  db: Db
  sealer: Sealer
  fetch(organization_id: number): PlainFetch
  lookUp: Forges['lookUp']
  user_agent: string
}

/** How exact `used_at` of a connection is. */
const USED_MS = 60_000
/** More connections than are in use at a time; their tokens are created again when they are needed. */
const MAX_OPEN = 500

/**
 * Returns the connected forges, opened by their rows. Adapters are kept per credentials, so changed ones take
 * effect at once. ForgeError `auth`: the credentials are sealed with another key.
 */
export function openForges({ db, sealer, fetch, lookUp, user_agent }: Deps): Forges {
  const opened = new Map<string, RemoteForge>()
  const responses = new ResponseCache()
  const create = (
    organization_id: number,
    target: ForgeTarget,
    identity: { login: string; app: string | null } | null,
  ) => {
    const common = { fetch: conditionalFetch(fetch(organization_id), responses), user_agent, identity }
    if (target.kind === 'gitea') return giteaForge({ ...common, url: target.url, token: target.token })
    return githubForge({ ...common, origin: target.url, credentials: target.credentials })
  }

  function open(row: ForgeRow): RemoteForge {
    const key = `${row.id} ${row.kind} ${row.sealed.toString('base64')} ${row.installation_id}`
    const known = opened.get(key)
    if (known) return known
    const secrets = openForgeSecrets(sealer, row)
    if (secrets === null)
      throw new ForgeError(
        'auth',
        'The credentials are sealed with another key of this service: connect it again.',
      )
    const identity = row.login === null ? null : { login: row.login, app: row.app_slug }
    const created = create(row.organization_id, targetOf(row, secrets), identity)
    if (opened.size >= MAX_OPEN) opened.clear()
    opened.set(key, created)
    return created
  }

  // A broken connection does not affect repositories of another host.
  async function find(repository: Repository) {
    if (repository.kind === 'local') return null
    for (const row of await listForges(db, repository.organization_id)) {
      const found = repositoryOn(row.url, repository)
      if (found === null) continue
      if (row.used_at === null || Date.now() - row.used_at.getTime() > USED_MS)
        await recordForgeUse(db, row.organization_id, row.id)
      return { row, repository: found }
    }
    return null
  }

  return {
    open,
    lookUp,
    tryOut: (organization_id, target) => create(organization_id, target, null),
    convertManifest: (organization_id, origin, code) =>
      convertManifest(origin, code, fetch(organization_id), user_agent),
    async of(wanted) {
      const found = await find(wanted)
      if (found === null) return null
      const { row, repository } = found
      return { connection_id: row.id, login: row.login, forge: open(row), repository }
    },
    async gitCredentials(wanted) {
      const found = await find(wanted)
      if (found === null || wanted.kind === 'ssh') return null
      const { username, password } = await open(found.row).gitCredentials(found.repository)
      return { username, password }
    },
  }
}

function targetOf({ kind, url, app_id, installation_id }: ForgeRow, secrets: ForgeSecrets): ForgeTarget {
  if (kind === 'gitea') return { kind, url, token: 'token' in secrets ? secrets.token : '' }
  const credentials =
    'token' in secrets
      ? { token: secrets.token }
      : { app_id: app_id ?? 0, private_key: secrets.private_key, installation_id }
  return { kind, url, credentials }
}
