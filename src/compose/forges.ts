import type { Config } from '../config.ts'
import type { Log } from '../core/log.ts'
import type { RepositoryCredentials } from '../core/secrets/repository-credentials.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import { outgoingFetch } from '../egress/fetch.ts'
import { lookupHost } from '../egress/lookup-host.ts'
import { type Forges, openForges } from '../forge/forges.ts'
import { ForgeError } from '../forge/port.ts'
import { GitError } from '../git/process/git-error.ts'
import type { GitRepository } from '../git/refs/repository-url.ts'
import type { Services } from '../service/context.ts'
import { mirrorComments } from '../service/forges/comment-mirrors.ts'
import { tryFailingForges } from '../service/forges/forge-health.ts'
import { pollForges } from '../service/forges/forge-poll.ts'
import { doForgeTasks } from '../service/forges/forge-tasks.ts'
import { pollMentions } from '../service/forges/poll-mentions.ts'
import { markRuns } from '../service/forges/run-marks.ts'
import type { Database } from '../store/database.ts'
import { deleteOldForgeDeliveries } from '../store/forges/forge-deliveries.ts'
import { repeat } from '../core/polling.ts'
import { outgoingOf } from './webhooks.ts'

const BOUNDS = { ms: 20_000, max_bytes: 16 * 1024 ** 2 }

/** The forges that organizations are connected to: private ones where private git servers are allowed. */
export function forgesOf({ config, db, sealer, version }: { config: Config; db: Database; sealer: Sealer; version: string }): Forges {
  const outgoing = outgoingOf({ config }, config.AGENTRUN_ALLOW_PRIVATE_GIT)
  const fetch = (organization_id: number) => outgoingFetch(outgoing(organization_id), BOUNDS)
  const lookUp = (organization_id: number, url: string) => lookupHost(outgoing(organization_id), url)
  return openForges({ db, sealer, fetch, lookUp, user_agent: `agentrun/${version}` })
}

const TASK_MS = 1_000
const POLL_MS = 2_000
const HEALTH_MS = 10_000
const TIDY_MS = 3_600_000
/** For how long it is known what a forge has told; it tells again what is three days old at most. */
const KEPT_DAYS = 30
const BATCH = 1_000

/** Does what forges tell of, looks at what they do not, and shows them how runs stand, until disposed of. */
export function startForges(services: Services, log: Log): Disposable {
  const stack = new DisposableStack()
  const tasks = async () => {
    while ((await doForgeTasks(services, log)) > 0);
  }
  stack.defer(repeat(TASK_MS, 'work for forges', tasks, log))
  for (const tell of [markRuns, mirrorComments]) {
    const all = async () => {
      while ((await tell(services, log)) > 0);
    }
    stack.defer(repeat(TASK_MS, 'telling forges', all, log))
  }
  stack.defer(repeat(HEALTH_MS, 'trying forges again', () => tryFailingForges(services), log, 'at once'))
  for (const look of [pollForges, pollMentions])
    stack.defer(repeat(POLL_MS, 'looking at forges', () => look(services, (message, fields) => log('warn', message, fields)), log))
  const tidy = async () => {
    while ((await deleteOldForgeDeliveries(services.db, KEPT_DAYS, BATCH)) === BATCH);
  }
  stack.defer(repeat(TIDY_MS, 'tidying up of what forges told', tidy, log, 'at once'))
  return stack
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
