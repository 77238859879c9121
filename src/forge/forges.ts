import { type ForgeRepository, repositoryOn } from '../core/forges/forge-address.ts'
import { type ForgeSecrets, openForgeSecrets } from '../core/forges/forge-secrets.ts'
import type { HostLookup } from '../core/network/public-address.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Db } from '../store/database.ts'
import { type ForgeRow, listForges, recordForgeUse } from '../store/forges/forges.ts'
import type { PlainFetch } from './bound-fetch.ts'
import { giteaForge } from './gitea/gitea.ts'
import { type ConvertedApp, convertManifest } from './github/app-manifest.ts'
import type { GitHubCredentials } from './github/client.ts'
import { githubForge } from './github/github.ts'
import { ForgeError, type RemoteForge } from './port.ts'
import { conditionalFetch, ResponseCache } from './response-cache.ts'

/** A repository on a forge that its organization is connected to. */
export type OnForge = { connection_id: number; login: string | null; forge: RemoteForge; repository: ForgeRepository }
type Repository = { organization_id: number; url: string; kind: 'https' | 'http' | 'ssh' | 'local' }

/** Where a forge is, and what the service signs in with there. */
export type ForgePlace = { kind: 'github'; url: string; credentials: GitHubCredentials } | { kind: 'gitea'; url: string; token: string }

/** The forges of all organizations, by their connections. */
export type Forges = {
  /** Where that repository is. Null: on no forge that is connected, so that its pull requests are rows of ours alone. */
  of(repository: Repository): Promise<OnForge | null>
  /** What git signs in with there; null: nothing. Never over another origin than the one that was connected. */
  gitCredentials(repository: Repository): Promise<{ username: string; password: string } | null>
  /** A connection by its row. ForgeError `auth` when its credentials cannot be opened. */
  open(row: ForgeRow): RemoteForge
  /** What the name servers say of the host of a forge's address; the forge itself is not asked. */
  lookUp(organization_id: number, url: string): Promise<HostLookup>
  /** As it would be with these credentials, for somebody who is about to connect it. */
  tryOut(organization_id: number, place: ForgePlace): RemoteForge
  /** The app that a forge has made of a manifest of ours. */
  convertManifest(organization_id: number, origin: string, code: string): Promise<ConvertedApp>
}

type Deps = { db: Db; sealer: Sealer; fetch(organization_id: number): PlainFetch; lookUp: Forges['lookUp']; user_agent: string }

/** More often nobody needs to know when a connection was used. */
const USED_MS = 60_000
/** More connections than anybody works with at a time; their tokens are made anew when they are needed again. */
const MOST_OPEN = 500

export function openForges({ db, sealer, fetch, lookUp, user_agent }: Deps): Forges {
  const opened = new Map<string, RemoteForge>()
  const responses = new ResponseCache()
  const create = (organization_id: number, place: ForgePlace, identity: { login: string; app: string | null } | null) => {
    const way = { fetch: conditionalFetch(fetch(organization_id), responses), user_agent, identity }
    if (place.kind === 'gitea') return giteaForge({ ...way, url: place.url, token: place.token })
    return githubForge({ ...way, origin: place.url, credentials: place.credentials })
  }

  function open(row: ForgeRow): RemoteForge {
    const key = `${row.id} ${row.kind} ${row.sealed.toString('base64')} ${row.installation_id}`
    const known = opened.get(key)
    if (known) return known
    const secrets = openForgeSecrets(sealer, row)
    if (secrets === null) throw new ForgeError('auth', 'The credentials are sealed with another key of this service: connect it again.')
    const identity = row.login === null ? null : { login: row.login, app: row.app_slug }
    const made = create(row.organization_id, placeOf(row, secrets), identity)
    if (opened.size >= MOST_OPEN) opened.clear()
    opened.set(key, made)
    return made
  }

  /** Whatever is wrong with a connection, a repository of another host does not notice it. */
  async function find(repository: Repository) {
    if (repository.kind === 'local') return null
    for (const row of await listForges(db, repository.organization_id)) {
      const found = repositoryOn(row.url, repository)
      if (found === null) continue
      if (row.used_at === null || Date.now() - row.used_at.getTime() > USED_MS) await recordForgeUse(db, row.organization_id, row.id)
      return { row, repository: found }
    }
    return null
  }

  return {
    open,
    lookUp,
    tryOut: (organization_id, place) => create(organization_id, place, null),
    convertManifest: (organization_id, origin, code) => convertManifest(origin, code, fetch(organization_id), user_agent),
    async of(asked) {
      const found = await find(asked)
      if (found === null) return null
      const { row, repository } = found
      return { connection_id: row.id, login: row.login, forge: open(row), repository }
    },
    async gitCredentials(asked) {
      const found = await find(asked)
      if (found === null || asked.kind === 'ssh') return null
      const { username, password } = await open(found.row).gitCredentials(found.repository)
      return { username, password }
    },
  }
}

function placeOf({ kind, url, app_id, installation_id }: ForgeRow, secrets: ForgeSecrets): ForgePlace {
  if (kind === 'gitea') return { kind, url, token: 'token' in secrets ? secrets.token : '' }
  const credentials =
    'token' in secrets ? { token: secrets.token } : { app_id: app_id ?? 0, private_key: secrets.private_key, installation_id }
  return { kind, url, credentials }
}
