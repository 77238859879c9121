import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json_channels } from '../../src/core/json/channels.ts'
import { excessOf } from '../../src/core/json/parse-json.ts'
import { SECRET } from '../forge/deliver.ts'
import { type App, startApp } from '../start-app.ts'
import {
  type Channel,
  fileChannels,
  gatewayChannels,
  httpChannels,
  modelChannels,
  programChannels,
  serverChannels,
} from './channels.ts'
import { countParsed } from './count-parsed.ts'
import { hostileJson } from './hostile-json.ts'

/** More values than every bound, if they are small. */
const BYTES = 600_000
/** Characters of any response, message or reason. */
const MAX_RESPONSE = 128 * 1024
const NAMES_BOUND = /has more than \d+ (values|bytes|characters)|is nested deeper than \d+/
const NAMES_BOUND_OR_INVALID = new RegExp(`${NAMES_BOUND.source}|is not valid JSON`)

let app: App
let own: Channel[] = []
let gateway: Awaited<ReturnType<typeof gatewayChannels>>
let servers: Awaited<ReturnType<typeof serverChannels>>
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  const at = `/v1/organizations/${app.org_id}/integrations/gitea`
  const { body } = await app.call('PUT', at, {
    url: 'http://127.0.0.1:9',
    token: 't',
    webhook_secret: SECRET,
  })
  own = httpChannels(app, body.webhook_url)
  gateway = await gatewayChannels()
  servers = await serverChannels()
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await servers[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

/** Sends every hostile text through a channel, and compares what parsers got with its bounds. */
async function attack({ name, bounds, parses = bounds, quiet, waits, message, send }: Channel) {
  using parsed = countParsed()
  let refused = 0
  for (const hostile of hostileJson(BYTES)) {
    const sent = message(hostile.text)
    const excess = excessOf(bounds, Buffer.from(sent))
    if (waits && excess === null) continue
    parsed.take()
    const outcome = await send(sent)
    const at = `${name}: ${hostile.name}: ${outcome.slice(0, 300)}`
    expect(parsed.take().values, at).toBeLessThanOrEqual(json_channels[parses].values)
    expect(outcome.length, at).toBeLessThanOrEqual(MAX_RESPONSE)
    if (excess !== null) refused++
    // What is read before it is bounded has each key once: repeated ones are gone, and the parser behind it
    // refuses what is left.
    const refusal = parses === bounds ? NAMES_BOUND : NAMES_BOUND_OR_INVALID
    if (excess !== null && !quiet) expect(outcome, at).toMatch(refusal)
  }
  // The texts that are hostile here are not only long.
  expect(refused, name).toBeGreaterThan(5)
}

describe('what any parser gets is within the bounds of its channel, the sender gets a short response, and a refusal names its bound', () => {
  test.each([0, 1, 2, 3, 4, 5])('body %# of the service', async i => attack(own[i] as Channel))
  test.each([0, 1])('request %# of the gateway', async i => attack(gateway.channels[i] as Channel))
  test.each([0, 1, 2, 3, 4])('response %# of a server', async i => attack(servers.channels[i] as Channel))
  test.each(programChannels())('$name', attack)
  test.each(modelChannels())('$name', attack)
  test.each(fileChannels())('$name', attack)
})

test('no channel is forgotten', () => {
  const driven = [
    ...own,
    ...gateway.channels,
    ...servers.channels,
    ...programChannels(),
    ...modelChannels(),
    ...fileChannels(),
  ]
  const trusted = ['engine_response', 'client_response', 'setting', 'model_summary', 'model_response']
  expect(Object.keys(json_channels).filter(name => !driven.some(({ bounds }) => bounds === name))).toEqual(
    trusted.toSorted(byTable),
  )
})

const names = Object.keys(json_channels)
const byTable = (a: string, b: string) => names.indexOf(a) - names.indexOf(b)
