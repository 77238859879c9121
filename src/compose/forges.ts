import type { Config } from '../config.ts'
import type { Log } from '../core/log.ts'
import { startPolling } from '../core/polling.ts'
import type { RepositoryCredentials } from '../core/secrets/repository-credentials.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import { outgoingFetch } from '../egress/fetch.ts'
import { lookupHost } from '../egress/lookup-host.ts'
import { type Forges, openForges } from '../forge/forges.ts'
import { ForgeError } from '../forge/port.ts'
import type { GitRepository } from '../git/git-repository.ts'
import { GitError } from '../git/process/git-error.ts'
import { QueueConsumer } from '../queue/consumer.ts'
import type { Services } from '../service/context.ts'
import { commentMirrorQueue } from '../service/forges/comment-mirrors.ts'
import { retryFailingForges } from '../service/forges/forge-health.ts'
import { forgeTaskQueue } from '../service/forges/forge-tasks.ts'
import { pollMentions } from '../service/forges/poll-mentions.ts'
import { pollPullRequests } from '../service/forges/poll-pull-requests.ts'
import { runMarkQueue } from '../service/forges/run-marks.ts'
import type { Database } from '../store/database.ts'
import { deleteOldForgeDeliveries } from '../store/forges/forge-deliveries.ts'
import { outgoingOf } from './webhooks.ts'

const BOUNDS = { ms: 20_000, max_bytes: 16 * 1024 ** 2 }

/**
 * Returns the forges that organizations are connected to: private ones where private git servers are allowed.
 */
export function forgesOf({
  config,
  db,
  sealer,
  version,
}: {
  config: Config
  db: Database
  sealer: Sealer
  version: string
}): Forges {
  const outgoing = outgoingOf({ config }, config.AGENTRUN_ALLOW_PRIVATE_GIT)
  const fetch = (organization_id: number) => outgoingFetch(outgoing(organization_id), BOUNDS)
  const lookUp = (organization_id: number, url: string) => lookupHost(outgoing(organization_id), url)
  return openForges({ db, sealer, fetch, lookUp, user_agent: `agentrun/${version}` })
}

const POLL_INTERVAL_MS = 2_000
const HEALTH_INTERVAL_MS = 10_000
const CLEANUP_INTERVAL_MS = 3_600_000
/** The time for which deliveries are remembered; a forge repeats one for three days at most. */
const DELIVERY_DAYS = 30
const BATCH = 1_000

/**
 * Handles what forges report, polls what they do not, and shows the status of runs and comments there, until
 * disposed of.
 */
export function startForges(services: Services, log: Log): AsyncDisposable {
  const stack = new AsyncDisposableStack()
  stack.use(new QueueConsumer(forgeTaskQueue(services), log))
  stack.use(new QueueConsumer(runMarkQueue(services, log), log))
  stack.use(new QueueConsumer(commentMirrorQueue(services, log), log))
  const warn = (message: string, fields: Record<string, unknown>) => log('warn', message, fields)
  stack.use(
    startPolling(
      HEALTH_INTERVAL_MS,
      'retry of failing forges',
      () => retryFailingForges(services),
      log,
      'at once',
    ),
  )
  stack.use(
    startPolling(POLL_INTERVAL_MS, 'sync of pull requests', () => pollPullRequests(services, warn), log),
  )
  stack.use(startPolling(POLL_INTERVAL_MS, 'search for mentions', () => pollMentions(services, warn), log))
  const cleanUp = async () => {
    while ((await deleteOldForgeDeliveries(services.db, DELIVERY_DAYS, BATCH)) === BATCH);
  }
  stack.use(startPolling(CLEANUP_INTERVAL_MS, 'cleanup of deliveries of forges', cleanUp, log, 'at once'))
  return stack
}

/** Returns what git signs in with on a forge. Throws GitError when the forge provides nothing. */
export async function forgeCredentials(
  forges: Forges,
  { organization_id, url, kind }: GitRepository,
): Promise<RepositoryCredentials | null> {
  if (organization_id === undefined || kind === 'local') return null
  try {
    return await forges.gitCredentials({ organization_id, url, kind })
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    throw new GitError(
      error.retryable ? 'unreachable' : 'auth',
      `the forge gives no credentials: ${error.message}`,
      { cause: error },
    )
  }
}
