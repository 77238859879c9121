import type { Config } from '../config.ts'
import type { RepositoryCredentials } from '../core/repository-credentials.ts'
import type { Sealer } from '../core/sealing.ts'
import { outgoingFetch } from '../egress/fetch.ts'
import { type Forges, openForges } from '../forge/forges.ts'
import { ForgeError } from '../forge/port.ts'
import { GitError } from '../git/git-error.ts'
import type { GitRepository } from '../git/repository-url.ts'
import type { Database } from '../store/database.ts'
import { outgoingOf } from './webhooks.ts'

const BOUNDS = { ms: 20_000, max_bytes: 16 * 1024 ** 2 }

/** The forges that organizations are connected to: private ones where private git servers are allowed. */
export function forgesOf({ config, db, sealer, version }: { config: Config; db: Database; sealer: Sealer; version: string }): Forges {
  const outgoing = outgoingOf({ config }, config.AGENTRUN_ALLOW_PRIVATE_GIT)
  const fetch = (organization_id: number) => outgoingFetch(outgoing(organization_id), BOUNDS)
  return openForges({ db, sealer, fetch, user_agent: `agentrun/${version}` })
}

/** What git signs in with on a forge. GitError when the forge gives us nothing. */
export async function forgeCredentials(
  forges: Forges,
  { organization_id, url, kind }: GitRepository,
): Promise<RepositoryCredentials | null> {
  if (organization_id === undefined || kind === 'local') return null
  try {
    return await forges.gitCredentials({ organization_id, url, kind })
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    throw new GitError(error.retryable ? 'unreachable' : 'auth', `the forge gives no credentials: ${error.message}`, { cause: error })
  }
}
