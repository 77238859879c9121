import { createHash } from 'node:crypto'
import type { ForgeKind, ForgeReceipt } from '../../contract/repositories/forges.ts'
import { type ForgeTask, MAX_MENTION_AGE_MS, type ReadEvent } from '../../core/forges/forge-event.ts'
import { openForgeSecrets } from '../../core/forges/forge-secrets.ts'
import { isSignedByForge } from '../../core/forges/forge-signature.ts'
import { readGiteaEvent } from '../../core/forges/gitea-event.ts'
import { readGitHubEvent } from '../../core/forges/github-event.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { visiblyMentions } from '../../markdown/visible-mention.ts'
import { insertForgeDelivery } from '../../store/forges/forge-deliveries.ts'
import { type ForgeRow, findForge } from '../../store/forges/forges.ts'
import type { Services } from '../context.ts'

type Delivery = {
  connection_id: number
  /** A header of it, by its name. */
  header(name: string): string | undefined
  bytes: Buffer
  /** Parses the body. Rejects with 400. */
  payload(): Promise<unknown>
}

/**
 * The format of a kind's deliveries: the names of its headers, of which the first that is present counts, and
 * the parser of its body.
 */
type DeliveryFormat = {
  signature: string[]
  prefix: '' | 'sha256='
  event: string[]
  delivery: string[]
  read(event: string, payload: unknown, name: string): ReadEvent
}

const formats: Record<ForgeKind, DeliveryFormat> = {
  github: {
    signature: ['X-Hub-Signature-256'],
    prefix: 'sha256=',
    read: readGitHubEvent,
    event: ['X-GitHub-Event'],
    delivery: ['X-GitHub-Delivery'],
  },
  gitea: {
    signature: ['X-Gitea-Signature', 'X-Forgejo-Signature'],
    prefix: '',
    read: readGiteaEvent,
    // Some versions leave the event of a status empty, and send its type only.
    event: ['X-Gitea-Event', 'X-Forgejo-Event', 'X-Gitea-Event-Type'],
    delivery: ['X-Gitea-Delivery', 'X-Forgejo-Delivery'],
  },
}

const ID = /^[A-Za-z0-9-]{1,100}$/
const EVENT = /^[a-z0-9_]{1,50}$/

/** Returns the name of our account there, without `@`. */
export const mentionName = ({ app_slug, login }: Pick<ForgeRow, 'app_slug' | 'login'>): string =>
  app_slug ?? login ?? ''

/** Returns the issue or pull request of a request: requests about one are handled in order. */
export const subjectOf = (task: ForgeTask): string | null =>
  task.kind === 'request'
    ? `${task.repository.owner}/${task.repository.name}#${task.number}`.toLowerCase()
    : null

/**
 * Throws 404 for an unknown connection or one of another kind, and 401 without anything that could be a
 * signature: then no body is read.
 */
export async function requireReceiver(
  { db }: Pick<Services, 'db'>,
  kind: ForgeKind,
  { connection_id, header }: Pick<Delivery, 'connection_id' | 'header'>,
): Promise<ForgeRow> {
  const forge = await findForge(db, connection_id)
  if (!forge || forge.kind !== kind) throw new UnknownSender('not_found', 'There is no such connection.')
  const { signature, prefix } = formats[kind]
  const given = first(header, signature)
  if (!given.startsWith(prefix) || !DIGEST.test(given.slice(prefix.length))) throw wrongSignature(kind)
  return forge
}

const DIGEST = /^[0-9a-f]{64}$/i
const wrongSignature = (kind: ForgeKind) =>
  new UnknownSender(
    'unauthorized',
    `${formats[kind].signature[0]} is not that of this body by the secret of this connection.`,
  )
const first = (header: Delivery['header'], names: string[]) =>
  names.map(name => header(name.toLowerCase())).find(value => value) ?? ''

/** No forge that is connected: it counts to the limit of its address like an unknown token. */
export class UnknownSender extends ServiceError {}

/**
 * Records a signed delivery once; its task is handled later. 404 for an unknown connection or one of another
 * kind, 401 for a wrong signature, 400 for a request that is not a delivery of such a forge.
 */
export async function receiveDelivery(
  services: Pick<Services, 'db' | 'sealer'>,
  kind: ForgeKind,
  received: Delivery,
): Promise<ForgeReceipt> {
  const forge = await requireReceiver(services, kind, received)
  const secrets = openForgeSecrets(services.sealer, forge)
  if (secrets === null)
    throw new ServiceError('conflict', 'The secret of this connection cannot be opened: connect it again.')
  const format = formats[kind]
  const { header, bytes } = received
  if (!isSignedByForge(secrets.webhook, bytes, first(header, format.signature), format.prefix))
    throw wrongSignature(kind)
  const [delivery, event] = [first(header, format.delivery), first(header, format.event)]
  if (!ID.test(delivery)) throw invalid(['header', format.delivery[0] ?? ''], 'must be the id of a delivery')
  if (!EVENT.test(event)) throw invalid(['header', format.event[0] ?? ''], 'must be the name of an event')
  const name = mentionName(forge)
  const read = await unlessHidden(unlessTooOld(format.read(event, await received.payload(), name)), {
    id: forge.id,
    name,
  })
  const task = 'task' in read ? read.task : null
  const fresh = await insertForgeDelivery(services.db, {
    organization_id: forge.organization_id,
    forge_id: forge.id,
    delivery,
    event,
    // Its id is not signed: an observer could repeat it under another one.
    once:
      'task' in read
        ? (read.once ??
          (read.task.kind === 'asked'
            ? `body ${createHash('sha256').update(received.bytes).digest('hex')}`
            : null))
        : null,
    subject: task && subjectOf(task),
    task: task && JSON.stringify(task),
    outcome: 'ignored' in read ? read.ignored : null,
  })
  return {
    received: true,
    duplicate: !fresh,
    queued: fresh && task !== null,
    reason: 'ignored' in read ? read.ignored : null,
  }
}

/** Deliveries are forgotten after a while: one that is repeated after that is too old to be handled again. */
const unlessTooOld = (read: ReadEvent): ReadEvent =>
  'task' in read && read.written_at && read.written_at.getTime() < Date.now() - MAX_MENTION_AGE_MS
    ? { ignored: 'it is older than a day' }
    : read

async function unlessHidden(read: ReadEvent, { id, name }: { id: number; name: string }): Promise<ReadEvent> {
  if ('ignored' in read || read.mentioned_in === undefined) return read
  return (await visiblyMentions(id, read.mentioned_in, name))
    ? read
    : { ignored: `it mentions @${name} only where forges show no mention` }
}
