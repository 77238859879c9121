import type { ForgeReceipt } from '../contract/forges.ts'
import { openForgeSecrets } from '../core/forge-secrets.ts'
import { type ForgeTask, readGitHubEvent } from '../core/github-event.ts'
import { isSignedByGitHub } from '../core/github-signature.ts'
import { invalid, ServiceError } from '../core/service-error.ts'
import { insertForgeDelivery } from '../store/forge-deliveries.ts'
import { type ForgeRow, findForge } from '../store/forges.ts'
import type { Services } from './context.ts'

type Delivery = {
  connection_id: number
  event: string | undefined
  delivery: string | undefined
  signature: string | undefined
  /** As it came, and what it says. */
  bytes: Buffer
  payload: unknown
}

const ID = /^[A-Za-z0-9-]{1,100}$/
const EVENT = /^[a-z0-9_]{1,50}$/

/** What we are called there, without `@`. */
export const mentionName = ({ app_slug, login }: Pick<ForgeRow, 'app_slug' | 'login'>): string => app_slug ?? login ?? ''

/** The issue or pull request that a request is about: requests about one are done in their order. */
export const subjectOf = (task: ForgeTask): string | null =>
  task.kind === 'request' ? `${task.repository.owner}/${task.repository.name}#${task.number}`.toLowerCase() : null

/**
 * Takes what GitHub tells: signed, written down once, and done later. 404 for a connection that there is not, 401 for a signature that is not
 * of these bytes, 400 for what is no delivery of GitHub's.
 */
export async function receiveGitHub(services: Pick<Services, 'db' | 'sealer'>, told: Delivery): Promise<ForgeReceipt> {
  const forge = await findForge(services.db, told.connection_id)
  if (!forge) throw new ServiceError('not_found', 'There is no such connection.')
  const secrets = openForgeSecrets(services.sealer, forge)
  if (secrets === null) throw new ServiceError('conflict', 'The secret of this connection cannot be opened: connect it again.')
  if (!isSignedByGitHub(secrets.webhook, told.bytes, told.signature))
    throw new ServiceError('unauthorized', 'X-Hub-Signature-256 is not that of this body by the secret of this connection.')
  const { delivery = '', event = '' } = told
  if (!ID.test(delivery)) throw invalid(['header', 'X-GitHub-Delivery'], 'must be the id of a delivery')
  if (!EVENT.test(event)) throw invalid(['header', 'X-GitHub-Event'], 'must be the name of an event')
  const read = readGitHubEvent(event, told.payload, mentionName(forge))
  const task = 'task' in read ? read.task : null
  const fresh = await insertForgeDelivery(services.db, {
    ...{ organization_id: forge.organization_id, forge_id: forge.id, delivery, event },
    once: 'task' in read ? read.once : null,
    subject: task && subjectOf(task),
    task: task && JSON.stringify(task),
    outcome: 'ignored' in read ? read.ignored : null,
  })
  return { received: true, duplicate: !fresh, queued: fresh && task !== null, reason: 'ignored' in read ? read.ignored : null }
}
