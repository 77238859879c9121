import { createHash } from 'node:crypto'
import type { ForgeKind, ForgeReceipt } from '../../contract/repositories/forges.ts'
import { type ForgeTask, MAX_MENTION_AGE_MS, type ReadEvent } from '../../core/forges/forge-event.ts'
import { openForgeSecrets } from '../../core/forges/forge-secrets.ts'
import { isSignedByForge } from '../../core/forges/forge-signature.ts'
import { readGiteaEvent } from '../../core/forges/gitea-event.ts'
import { readGitHubEvent } from '../../core/forges/github-event.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { insertForgeDelivery } from '../../store/forges/forge-deliveries.ts'
import { type ForgeRow, findForge } from '../../store/forges/forges.ts'
import type { Services } from '../context.ts'

type Delivery = {
  connection_id: number
  /** A header of it, by its name. */
  header(name: string): string | undefined
  /** As it came, and what it says. */
  bytes: Buffer
  payload: unknown
}

/** How a forge tells: in which headers, the first that is there, and how it is read. */
type Way = {
  signature: string[]
  prefix: '' | 'sha256='
  event: string[]
  delivery: string[]
  read(event: string, payload: unknown, name: string): ReadEvent
}

const ways: Record<ForgeKind, Way> = {
  github: {
    ...{ signature: ['X-Hub-Signature-256'], prefix: 'sha256=', read: readGitHubEvent },
    ...{ event: ['X-GitHub-Event'], delivery: ['X-GitHub-Delivery'] },
  },
  gitea: {
    ...{ signature: ['X-Gitea-Signature', 'X-Forgejo-Signature'], prefix: '', read: readGiteaEvent },
    // Some versions leave the event of a status empty, and say it as its type alone.
    ...{ event: ['X-Gitea-Event', 'X-Forgejo-Event', 'X-Gitea-Event-Type'], delivery: ['X-Gitea-Delivery', 'X-Forgejo-Delivery'] },
  },
}

const ID = /^[A-Za-z0-9-]{1,100}$/
const EVENT = /^[a-z0-9_]{1,50}$/

/** What we are called there, without `@`. */
export const mentionName = ({ app_slug, login }: Pick<ForgeRow, 'app_slug' | 'login'>): string => app_slug ?? login ?? ''

/** The issue or pull request that a request is about: requests about one are done in their order. */
export const subjectOf = (task: ForgeTask): string | null =>
  task.kind === 'request' ? `${task.repository.owner}/${task.repository.name}#${task.number}`.toLowerCase() : null

/**
 * Takes what a forge tells: signed, written down once, and done later. 404 for a connection that there is not, or of another kind, 401 for a
 * signature that is not of these bytes, 400 for what is no delivery of such a forge.
 */
export async function receiveDelivery(services: Pick<Services, 'db' | 'sealer'>, kind: ForgeKind, told: Delivery): Promise<ForgeReceipt> {
  const forge = await findForge(services.db, told.connection_id)
  if (!forge || forge.kind !== kind) throw new ServiceError('not_found', 'There is no such connection.')
  const secrets = openForgeSecrets(services.sealer, forge)
  if (secrets === null) throw new ServiceError('conflict', 'The secret of this connection cannot be opened: connect it again.')
  const way = ways[kind]
  const first = (names: string[]) => names.map(name => told.header(name.toLowerCase())).find(value => value) ?? ''
  if (!isSignedByForge(secrets.webhook, told.bytes, first(way.signature), way.prefix))
    throw new ServiceError('unauthorized', `${way.signature[0]} is not that of this body by the secret of this connection.`)
  const [delivery, event] = [first(way.delivery), first(way.event)]
  if (!ID.test(delivery)) throw invalid(['header', way.delivery[0] ?? ''], 'must be the id of a delivery')
  if (!EVENT.test(event)) throw invalid(['header', way.event[0] ?? ''], 'must be the name of an event')
  const read = unlessOver(way.read(event, told.payload, mentionName(forge)))
  const task = 'task' in read ? read.task : null
  const fresh = await insertForgeDelivery(services.db, {
    ...{ organization_id: forge.organization_id, forge_id: forge.id, delivery, event },
    // Its id is not signed: whoever has seen it could have it done again under another one.
    once:
      'task' in read
        ? (read.once ?? (read.task.kind === 'asked' ? `body ${createHash('sha256').update(told.bytes).digest('hex')}` : null))
        : null,
    subject: task && subjectOf(task),
    task: task && JSON.stringify(task),
    outcome: 'ignored' in read ? read.ignored : null,
  })
  return { received: true, duplicate: !fresh, queued: fresh && task !== null, reason: 'ignored' in read ? read.ignored : null }
}

/** What was told is forgotten some day: what comes again after that is too old to be done again. */
const unlessOver = (read: ReadEvent): ReadEvent =>
  'task' in read && read.written_at && read.written_at.getTime() < Date.now() - MAX_MENTION_AGE_MS
    ? { ignored: 'it was said more than a day ago' }
    : read
