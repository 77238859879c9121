import { readFileSync } from 'node:fs'
import type { Body, Result } from '../../../sdk/operations.ts'
import { type CommandArguments, type Options, printResult, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { type Action, list, resource, single, table } from '../../resource.ts'

type Webhook = Result<'getWebhook'>
type Delivery = Result<'listWebhookDeliveries'>['items'][number]

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
  state: {
    type: 'string',
    value: 'STATE',
    choices: ['pending', 'delivered', 'failed'],
    actions: ['list'],
    about: 'only these',
  },
  run: { type: 'string', value: 'ID', actions: ['list'], about: 'only of this run' },
  since: {
    type: 'string',
    value: 'TIME',
    actions: ['redeliver'],
    about: 'redeliver failed: only deliveries of this time or later, such as 2026-11-20T10:00:00Z',
  },
  until: {
    type: 'string',
    value: 'TIME',
    actions: ['redeliver'],
    about: 'redeliver failed: only deliveries before this time',
  },
  limit: {
    type: 'string',
    value: 'N',
    actions: ['list', 'redeliver'],
    about: 'how many: by default and at most 100, redeliver failed 1,000',
  },
  skip: { type: 'string', value: 'N', actions: ['list'], about: 'skip the first N' },
} as const satisfies Options

const NEEDS_DELIVERY = 'the id of a delivery; agentrun webhooks list shows them'

const redeliver = single({
  operation: 'redeliverWebhook',
  repeatable: true,
  lines: ({ id, type, agent_run_id }) => [`queued: ${id} ${type} of run ${agent_run_id}`],
})

const redeliverFailed = single({
  operation: 'redeliverFailedWebhooks',
  repeatable: true,
  body: ({ values }: CommandArguments<typeof options>) => ({
    since: values.since,
    until: values.until,
    limit: whole('--limit', values.limit),
  }),
  lines: one => [
    `queued: ${one.queued}; ${one.remaining} are left, ${one.without_recipient} have nobody to go to`,
  ],
})

export const webhooks = resource({
  name: 'webhooks',
  summary: 'show or change the webhook, and list its deliveries',
  usage: [
    '[show]',
    'set URL',
    'on',
    'off',
    'remove',
    'test [URL]',
    'list',
    'delivery ID',
    'redeliver ID',
    'redeliver failed',
  ],
  words: [0, 2],
  exact: true,
  options,
  notes: ['test exits with 1 when the address refuses it; without a URL it uses the webhook that is set.'],
  actions: {
    show: single({ operation: 'getWebhook', lines: linesOf }),
    set: single({
      takes: 'an address',
      operation: 'setWebhook',
      body: ({ values }: CommandArguments<typeof options>, url = '') => ({
        url,
        secret: values.unsigned ? null : secretIn(values['secret-file']),
        events: values.event as Body<'setWebhook'>['events'],
      }),
      lines: linesOf,
    }),
    on: switched(true),
    off: switched(false),
    remove: single({ operation: 'deleteWebhook', repeatable: true, lines: linesOf }),
    test: { words: [0, 1], run: test },
    list: list({
      // One more word is ignored.
      words: [0, 1],
      operation: 'listWebhookDeliveries',
      query: ({ values }: CommandArguments<typeof options>) => ({
        state: values.state as Delivery['state'] | undefined,
        agent_run_id: whole('--run', values.run),
      }),
      noun: 'deliveries',
      lines: table({
        ID: one => String(one.id),
        RUN: one => String(one.agent_run_id),
        EVENT: one => one.type,
        STATE: one => one.state,
        ATTEMPTS: one => String(one.attempts),
        CREATED: one => one.created_at,
        '': one => (one.error === null ? '' : firstLine(one.error, 100)),
      }),
    }),
    delivery: single({ takes: NEEDS_DELIVERY, operation: 'getWebhookDelivery', lines: deliveryLines }),
    redeliver: {
      takes: NEEDS_DELIVERY,
      run: (given: CommandArguments<typeof options>, which = '') =>
        (which === 'failed' ? redeliverFailed : redeliver).run(given, which),
    },
  },
})

const secretIn = (file: string | undefined) =>
  file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '')

function switched(enabled: boolean): Action {
  return single({
    operation: 'setWebhook',
    body:
      ({ client, signal }) =>
      async () => {
        const { url, events } = await client().call('getWebhook', { signal })
        if (url === null) throw new UsageError('there is no webhook; agentrun webhooks set URL creates one')
        return { url, events, enabled }
      },
    lines: linesOf,
  })
}

function linesOf({
  url,
  enabled,
  has_secret,
  events,
  rests_until,
  failures,
  disabled_at,
  disabled_reason,
}: Webhook): string[] {
  if (url === null) return ['no webhook']
  return [
    `webhook  ${plainText(url)}`,
    `state    ${disabled_at !== null ? `switched off ${disabled_at}: ${plainText(disabled_reason ?? '')}` : enabled ? 'on' : 'off'}`,
    `signed   ${has_secret ? 'yes' : 'no'}`,
    `events   ${events === null ? 'all' : events.join(' ')}`,
    ...(failures > 0
      ? [`failures ${failures} in a row${rests_until === null ? '' : `, rests until ${rests_until}`}`]
      : []),
  ]
}

async function test(
  { client, json, print, signal }: CommandArguments<typeof options>,
  what?: string,
): Promise<number> {
  const url = what ?? (await client().call('getWebhook', { signal })).url
  if (url === null) throw new UsageError('there is no webhook; agentrun webhooks test URL tests an address')
  const tried = await client().call('testWebhook', { body: { url }, signal })
  printResult({ json, print }, tried, () => [
    `${tried.delivered ? 'taken' : `not taken: ${plainText(tried.error ?? '')}`} (${tried.signed ? 'signed' : 'unsigned'}, ${tried.latency_ms} ms)`,
  ])
  return tried.delivered ? 0 : 1
}

function deliveryLines({ id, type, agent_run_id, state, log }: Result<'getWebhookDelivery'>): string[] {
  const attempts = log.map(({ n, started_at, status, error, latency_ms }) => [
    n,
    started_at,
    status ?? '-',
    latency_ms === null ? '-' : `${latency_ms} ms`,
    error === null ? '' : firstLine(error, 200),
  ])
  return [`${id} ${type} of run ${agent_run_id}: ${state}`, ...attempts.map(cells => cells.join('  '))]
}
