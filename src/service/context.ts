import type { Role } from '../store/accounts.ts'
import type { Database } from '../store/database.ts'

/** Which commit a run would start from, asked of the local mirror alone (decisions §4). */
export type BaseResolver = (
  repository: { id: number; url: string; kind: 'https' | 'http' | 'ssh' | 'local' },
  base_ref: string | null,
) => Promise<{ state: 'known'; ref: string; sha: string } | { state: 'unknown_ref' } | { state: 'empty' } | { state: 'no_mirror' }>

export type ModelList = {
  get(id: string): { id: string; scripted: boolean } | null
  list(): { id: string; label: string; provider: string }[]
  default_model: string
}

/** What every verb may use. Made once, by main. */
export type Services = {
  db: Database
  base_url: string
  models: ModelList
  resolveBase: BaseResolver
  /** Seconds a turn may take from being queued to its end. */
  turn_wall_seconds: number
}

/** Who asks. */
export type Actor = { user_id: number; token_id: number; wire_profile: 'standard' | 'codegen' }

/** A verb's first argument: the services, who asks, and, for what belongs to an organization, which one and in what role. */
export type ActorContext = Services & { actor: Actor }
export type Context = ActorContext & { organization_id: number; role: Role }
