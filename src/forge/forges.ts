import { type ForgeRepository, forgePlace } from '../core/forge-address.ts'
import { openForgeSecrets } from '../core/forge-secrets.ts'
import type { Sealer } from '../core/sealing.ts'
import type { Db } from '../store/database.ts'
import { type ForgeRow, listForges } from '../store/forges.ts'
import { type ConvertedApp, convertManifest } from './github/app-manifest.ts'
import type { PlainFetch } from './github/bound-fetch.ts'
import type { GitHubCredentials } from './github/client.ts'
import { githubForge } from './github/github.ts'
import { ForgeError, type RemoteForge } from './port.ts'

/** A repository on a forge that its organization is connected to. */
export type OnForge = { connection_id: number; login: string | null; forge: RemoteForge; repository: ForgeRepository }
type Repository = { organization_id: number; url: string; kind: 'https' | 'http' | 'ssh' | 'local' }

/** The forges of all organizations, by their connections. */
export type Forges = {
  /** Where that repository is. Null: on no forge that is connected, so that its pull requests are rows of ours alone. */
  of(repository: Repository): Promise<OnForge | null>
  /** What git signs in with there; null: nothing. Never over another origin than the one that was connected. */
  gitCredentials(repository: Repository): Promise<{ username: string; password: string } | null>
  /** A connection by its row. ForgeError `auth` when its credentials cannot be opened. */
  open(row: ForgeRow): RemoteForge
  /** As it would be with these credentials, for somebody who is about to connect it. */
  tryOut(organization_id: number, origin: string, credentials: GitHubCredentials): RemoteForge
  /** The app that a forge has made of a manifest of ours. */
  convertManifest(organization_id: number, origin: string, code: string): Promise<ConvertedApp>
}

type Deps = { db: Db; sealer: Sealer; fetch(organization_id: number): PlainFetch; user_agent: string }

/** More connections than anybody works with at a time; their tokens are made anew when they are needed again. */
const MOST_OPEN = 500

export function openForges({ db, sealer, fetch, user_agent }: Deps): Forges {
  const opened = new Map<string, RemoteForge>()
  const tryOut: Forges['tryOut'] = (organization_id, origin, credentials) =>
    githubForge({ origin, credentials, fetch: fetch(organization_id), user_agent })

  function open(row: ForgeRow): RemoteForge {
    const key = `${row.id} ${row.sealed.toString('base64')} ${row.installation_id}`
    const known = opened.get(key)
    if (known) return known
    const secrets = openForgeSecrets(sealer, row)
    if (secrets === null) throw new ForgeError('auth', 'The credentials are sealed with another key of this service: connect it again.')
    const credentials =
      'token' in secrets
        ? { token: secrets.token }
        : { app_id: row.app_id ?? 0, private_key: secrets.private_key, installation_id: row.installation_id }
    const made = tryOut(row.organization_id, row.url, credentials)
    if (opened.size >= MOST_OPEN) opened.clear()
    opened.set(key, made)
    return made
  }

  /** Whatever is wrong with a connection, a repository of another host does not notice it. */
  async function find(repository: Repository) {
    const place = forgePlace(repository)
    if (place === null) return null
    const rows = await listForges(db, repository.organization_id)
    const row = rows.find(({ url }) => (place.origin === null ? new URL(url).hostname === place.host : url === place.origin))
    return row === undefined ? null : { row, place, repository: { owner: place.owner, name: place.name } }
  }

  return {
    open,
    tryOut,
    convertManifest: (organization_id, origin, code) => convertManifest(origin, code, fetch(organization_id), user_agent),
    async of(asked) {
      const found = await find(asked)
      if (found === null) return null
      const { row, repository } = found
      return { connection_id: row.id, login: row.login, forge: open(row), repository }
    },
    async gitCredentials(asked) {
      const found = await find(asked)
      if (found === null || found.place.origin === null) return null
      const { username, password } = await open(found.row).gitCredentials(found.repository)
      return { username, password }
    },
  }
}
