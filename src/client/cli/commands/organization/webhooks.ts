import { readFileSync } from 'node:fs'
import type { Answer, Body } from '../../../sdk/operations.ts'
import { command, type Given, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'

type Webhook = Answer<'getWebhook'>
type Delivery = Answer<'listWebhookDeliveries'>['items'][number]

const acts = ['show', 'set', 'on', 'off', 'remove', 'test', 'list', 'delivery', 'redeliver'] as const
const options = {
  'secret-file': {
    type: 'string',
    value: 'FILE',
    about: 'set: signs what is sent; - reads standard input. The one of before signs on for a day',
  },
  unsigned: { type: 'boolean', about: 'set: without a secret from now on' },
  event: { type: 'string', multiple: true, value: 'NAME', about: 'set: only this one; may be given several times; by default all' },
  state: { type: 'string', value: 'STATE', choices: ['pending', 'delivered', 'failed'], about: 'list: only these' },
  run: { type: 'string', value: 'ID', about: 'list: only of this run' },
  since: { type: 'string', value: 'TIME', about: 'redeliver failed: only what was told then or later, as 2026-11-20T10:00:00Z' },
  until: { type: 'string', value: 'TIME', about: 'redeliver failed: only what was told before' },
  limit: { type: 'string', value: 'N', about: 'list: how many, 100 by default and at most; redeliver failed: 1,000' },
  skip: { type: 'string', value: 'N', about: 'list: leave out this many' },
} as const satisfies Options

export const webhooks = command({
  name: 'webhooks',
  summary: 'say where runs are reported, and what became of what was sent',
  takes: '[show | set URL | on | off | remove | test [URL] | list | delivery ID | redeliver ID | redeliver failed]',
  words: [0, 2],
  choices: acts,
  options,
  notes: ['test ends with 1 when the address does not take it; without a URL it goes to the webhook that is set.'],
  async run(given) {
    const [act = 'show', what] = given.words
    if (act === 'list') return list(given)
    if (act === 'test') return test(given, what)
    if (act === 'delivery') return delivery(given, idOf(act, what))
    if (act === 'redeliver') return what === 'failed' ? redeliverFailed(given) : redeliver(given, idOf(act, what))
    if (act === 'set' && what === undefined) throw new UsageError('agentrun webhooks set takes an address')
    if (act !== 'set' && what !== undefined) throw new UsageError(`agentrun webhooks ${act} takes nothing else`)
    const webhook = await change(given, act, what ?? '')
    if (given.json) given.print.json(webhook)
    else for (const line of linesOf(webhook)) given.print.line(line)
    return 0
  },
})

function idOf(act: string, what: string | undefined): number {
  if (what === undefined) throw new UsageError(`agentrun webhooks ${act} takes the id of a delivery; agentrun webhooks list shows them`)
  return whole('the id of a delivery', what)
}

async function change({ values, client, signal }: Given<typeof options>, act: string, url: string): Promise<Webhook> {
  if (act === 'remove') return client().call('deleteWebhook', { repeatable: true, signal })
  const set = (body: Body<'setWebhook'>) => client().call('setWebhook', { body, repeatable: true, signal })
  if (act === 'set') {
    const file = values['secret-file']
    const secret = values.unsigned
      ? null
      : file === undefined
        ? undefined
        : readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '')
    return set({ url, secret, events: values.event as Body<'setWebhook'>['events'] })
  }
  const now = await client().call('getWebhook', { signal })
  if (act === 'show') return now
  if (now.url === null) throw new UsageError('there is no webhook; agentrun webhooks set URL makes one')
  return set({ url: now.url, events: now.events, enabled: act === 'on' })
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
  if (url === null) throw new UsageError('there is no webhook; agentrun webhooks test URL tries an address')
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
