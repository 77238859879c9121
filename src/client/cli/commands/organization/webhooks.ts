import { readFileSync } from 'node:fs'
import type { Body, Result } from '../../../sdk/operations.ts'
import { command, type Given, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'

type Webhook = Result<'getWebhook'>
type Delivery = Result<'listWebhookDeliveries'>['items'][number]

const actions = ['show', 'set', 'on', 'off', 'remove', 'test', 'list', 'delivery', 'redeliver'] as const
const options = {
  'secret-file': {
    type: 'string',
    value: 'FILE',
    actions: ['set'],
    about: 'secret that signs deliveries; - reads standard input. The previous secret signs for one more day',
  },
  unsigned: { type: 'boolean', actions: ['set'], about: 'remove the secret' },
  event: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    actions: ['set'],
    about: 'an event to send; may be repeated; by default all',
  },
  state: { type: 'string', value: 'STATE', choices: ['pending', 'delivered', 'failed'], actions: ['list'], about: 'only these' },
  run: { type: 'string', value: 'ID', actions: ['list'], about: 'only of this run' },
  since: {
    type: 'string',
    value: 'TIME',
    actions: ['redeliver'],
    about: 'redeliver failed: only deliveries of this time or later, such as 2026-11-20T10:00:00Z',
  },
  until: { type: 'string', value: 'TIME', actions: ['redeliver'], about: 'redeliver failed: only deliveries before this time' },
  limit: {
    type: 'string',
    value: 'N',
    actions: ['list', 'redeliver'],
    about: 'how many: by default and at most 100, redeliver failed 1,000',
  },
  skip: { type: 'string', value: 'N', actions: ['list'], about: 'leave out this many' },
} as const satisfies Options

export const webhooks = command({
  name: 'webhooks',
  summary: 'show or change the webhook, and list its deliveries',
  usage: ['[show]', 'set URL', 'on', 'off', 'remove', 'test [URL]', 'list', 'delivery ID', 'redeliver ID', 'redeliver failed'],
  words: [0, 2],
  choices: actions,
  options,
  notes: ['test exits with 1 when the address refuses it; without a URL it uses the webhook that is set.'],
  async run(given) {
    const [action = 'show', what] = given.words
    if (action === 'list') return list(given)
    if (action === 'test') return test(given, what)
    if (action === 'delivery') return delivery(given, idOf(action, what))
    if (action === 'redeliver') return what === 'failed' ? redeliverFailed(given) : redeliver(given, idOf(action, what))
    if (action === 'set' && what === undefined) throw new UsageError('agentrun webhooks set takes an address')
    if (action !== 'set' && what !== undefined) throw new UsageError(`agentrun webhooks ${action} takes nothing else`)
    const webhook = await change(given, action, what ?? '')
    if (given.json) given.print.json(webhook)
    else for (const line of linesOf(webhook)) given.print.line(line)
    return 0
  },
})

function idOf(action: string, what: string | undefined): number {
  if (what === undefined) throw new UsageError(`agentrun webhooks ${action} takes the id of a delivery; agentrun webhooks list shows them`)
  return whole('the id of a delivery', what)
}

async function change({ values, client, signal }: Given<typeof options>, action: string, url: string): Promise<Webhook> {
  if (action === 'remove') return client().call('deleteWebhook', { repeatable: true, signal })
  const set = (body: Body<'setWebhook'>) => client().call('setWebhook', { body, repeatable: true, signal })
  if (action === 'set') {
    const file = values['secret-file']
    const secret = values.unsigned
      ? null
      : file === undefined
        ? undefined
        : readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '')
    return set({ url, secret, events: values.event as Body<'setWebhook'>['events'] })
  }
  const now = await client().call('getWebhook', { signal })
  if (action === 'show') return now
  if (now.url === null) throw new UsageError('there is no webhook; agentrun webhooks set URL creates one')
  return set({ url: now.url, events: now.events, enabled: action === 'on' })
}

function linesOf({ url, enabled, has_secret, events, rests_until, failures, disabled_at, disabled_reason }: Webhook): string[] {
  if (url === null) return ['no webhook']
  return [
    `webhook  ${plainText(url)}`,
    `state    ${disabled_at !== null ? `switched off ${disabled_at}: ${plainText(disabled_reason ?? '')}` : enabled ? 'on' : 'off'}`,
    `signed   ${has_secret ? 'yes' : 'no'}`,
    `events   ${events === null ? 'all' : events.join(' ')}`,
    ...(failures > 0 ? [`failures ${failures} in a row${rests_until === null ? '' : `, rests until ${rests_until}`}`] : []),
  ]
}

async function test({ client, json, print, signal }: Given<typeof options>, what: string | undefined): Promise<number> {
  const url = what ?? (await client().call('getWebhook', { signal })).url
  if (url === null) throw new UsageError('there is no webhook; agentrun webhooks test URL tests an address')
  const tried = await client().call('testWebhook', { body: { url }, signal })
  if (json) print.json(tried)
  else
    print.line(
      `${tried.delivered ? 'taken' : `not taken: ${plainText(tried.error ?? '')}`} (${tried.signed ? 'signed' : 'unsigned'}, ${tried.latency_ms} ms)`,
    )
  return tried.delivered ? 0 : 1
}

async function list({ values, client, json, print, signal }: Given<typeof options>): Promise<number> {
  const query = {
    ...{ state: values.state as Delivery['state'] | undefined, agent_run_id: whole('--run', values.run) },
    ...{ limit: whole('--limit', values.limit), skip: whole('--skip', values.skip) },
  }
  const page = await client().call('listWebhookDeliveries', { query, signal })
  if (json) {
    print.json(page)
    return 0
  }
  const header = ['ID', 'RUN', 'EVENT', 'STATE', 'ATTEMPTS', 'CREATED', '']
  const rows = page.items.map(one => [String(one.id), String(one.agent_run_id), one.type, one.state, ...restOf(one)])
  for (const line of columns([header, ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text))) print.line(line)
  if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} deliveries; --skip shows others`)
  return 0
}

const restOf = ({ attempts, created_at, error }: Delivery) => [String(attempts), created_at, error === null ? '' : firstLine(error, 100)]

async function delivery({ client, json, print, signal }: Given<typeof options>, delivery_id: number): Promise<number> {
  const found = await client().call('getWebhookDelivery', { params: { delivery_id }, signal })
  if (json) {
    print.json(found)
    return 0
  }
  print.line(`${found.id} ${found.type} of run ${found.agent_run_id}: ${found.state}`)
  for (const { n, started_at, status, error, latency_ms } of found.log)
    print.line(
      `${n}  ${started_at}  ${status ?? '-'}  ${latency_ms === null ? '-' : `${latency_ms} ms`}  ${error === null ? '' : firstLine(error, 200)}`,
    )
  return 0
}

async function redeliver({ client, json, print, signal }: Given<typeof options>, delivery_id: number): Promise<number> {
  const queued = await client().call('redeliverWebhook', { params: { delivery_id }, repeatable: true, signal })
  if (json) print.json(queued)
  else print.line(`queued: ${queued.id} ${queued.type} of run ${queued.agent_run_id}`)
  return 0
}

async function redeliverFailed({ values, client, json, print, signal }: Given<typeof options>): Promise<number> {
  const filter = { since: values.since, until: values.until, limit: whole('--limit', values.limit) }
  const done = await client().call('redeliverFailedWebhooks', { body: filter, repeatable: true, signal })
  if (json) print.json(done)
  else print.line(`queued: ${done.queued}; ${done.remaining} are left, ${done.without_recipient} have nobody to go to`)
  return 0
}
