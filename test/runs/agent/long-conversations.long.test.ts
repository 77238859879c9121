import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import type { SeenRequest } from '../../model/fake-server.ts'
import { TOKEN } from '../../start-app.ts'
import { testFolder } from '../../temporary-folder.ts'
import { awaitEnd, createRun } from '../await-run.ts'
import { calls, makeRepository, shell, startCodingApp } from '../coding-app.ts'
import { startServiceProcess } from '../recovery/service-process.ts'
import { isSummaryRequest, messagesOf, orphansOf, tokensOf, windowed } from './windowed-model.ts'

const print = (n: number, chars: number) =>
  calls(shell(`printf '${n}-%.0s' $(seq ${Math.round(chars / (String(n).length + 1))})`))

/** What a request costs, in tokens of input that no cache has: a token from the cache costs a tenth. */
function costMeter() {
  let before: string[] = []
  return (request: SeenRequest): number => {
    const now = messagesOf(request).map(message => JSON.stringify(message))
    const changed = now.findIndex((message, i) => message !== before[i])
    const cached =
      now.slice(0, changed < 0 ? now.length : changed).reduce((sum, message) => sum + message.length, 0) / 4
    before = now
    return tokensOf(request) - 0.9 * cached
  }
}

test('a run of 1,000 steps in a window of 64,000 tokens completes, and its last steps cost what its first ones did', async () => {
  const STEPS = 1_000
  const WINDOW = 64_000
  const costOf = costMeter()
  const costs: number[] = []
  let sizes = 0
  const orphans: string[] = []
  await using app = await startCodingApp(
    windowed(WINDOW, request => {
      const cost = costOf(request)
      sizes = Math.max(sizes, tokensOf(request))
      orphans.push(...orphansOf(request))
      const summary = isSummaryRequest(request)
      // A thousand bodies would fill the memory.
      request.body = {}
      if (summary) {
        costs[costs.length - 1] = (costs.at(-1) ?? 0) + cost
        return { text: 'Goal: print a thousand numbers. Next: the next number.' }
      }
      costs.push(cost)
      const n = costs.length
      return n > STEPS
        ? calls({ name: 'finish', arguments: { answer: 'Printed.' } })
        : print(n, n % 10 === 0 ? 30_000 : 4_000)
    }),
    { AGENTRUN_MODELS: JSON.stringify({ 'openai-compatible/fake': { context_tokens: WINDOW } }) },
  )
  const { id } = await createRun(app, { prompt: 'Print a thousand numbers.', auto_create_pr: false })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Printed.' })
  expect(costs).toHaveLength(STEPS + 1)
  expect(sizes).toBeLessThan(WINDOW)
  expect(orphans).toEqual([])
  const mean = (of: number[]) => of.reduce((sum, cost) => sum + cost, 0) / of.length
  expect(mean(costs.slice(700, 1_000)) / mean(costs.slice(100, 400))).toBeLessThan(1.2)
}, 1_200_000)

// biome-ignore lint/suspicious/noExplicitAny: responses are read without types
async function call(base_url: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${base_url}/v1/organizations/1/agent${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return response.json()
}

test('kill -9 during a summary, and during the first call after it: the next worker sends the same bytes', async () => {
  const held: PromiseWithResolvers<SeenRequest>[] = [Promise.withResolvers(), Promise.withResolvers()]
  const seen: SeenRequest[] = []
  let summarized = false
  let step = 0
  await using model = await startFakeOpenAI(
    windowed(20_000, request => {
      const [summary, following] = held
      const is_next = summarized && !isSummaryRequest(request)
      if (isSummaryRequest(request) || is_next) seen.push(request)
      if (isSummaryRequest(request)) {
        if (seen.length === 1) return hold(summary, request)
        summarized = true
        return { text: 'Goal: print.' }
      }
      if (is_next && seen.length === 3) return hold(following, request)
      if (is_next) return calls({ name: 'finish', arguments: { answer: 'Printed.' } })
      return step++ < 8 ? print(step, 6_000) : calls(shell(`echo ${step} # ${'x'.repeat(6_000)}`))
    }),
  )
  const env = {
    AGENTRUN_LIMIT_STANDARD: 'off',
    AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
    AGENTRUN_COMPACT_TOKENS: '16000',
    AGENTRUN_DATA_DIR: join(testFolder(), 'data'),
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: makeRepository(),
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
  }
  let service = await startServiceProcess(env)
  const { id } = await call(service.base_url, 'POST', '/run', { prompt: 'Print.', auto_create_pr: false })
  for (const { promise } of held) {
    await promise
    service.child.kill('SIGKILL')
    await service.ended
    service = await startServiceProcess(env)
  }
  await expect
    .poll(async () => (await call(service.base_url, 'GET', `/run/${id}`)).status, { timeout: 60_000 })
    .toBe('completed')
  const [summary, repeated, next, next_repeated] = seen.map(conversationOf)
  expect(repeated === summary).toBe(true)
  expect(next).toContain('Goal: print.')
  expect(next_repeated === next).toBe(true)
  const { logs } = await call(service.base_url, 'GET', `/run/${id}/logs?tool_name=context_compacted`)
  expect(
    logs.filter((entry: { tool_output: { how: string } }) => entry.tool_output.how === 'summarized'),
  ).toHaveLength(1)
  service.child.kill('SIGTERM')
  await service.ended
}, 300_000)

function hold(held: PromiseWithResolvers<SeenRequest> | undefined, request: SeenRequest) {
  held?.resolve(request)
  return { stall: 'before_headers' as const }
}

/**
 * The bytes of a conversation. A worker that was killed while it opened the workspace leaves one to be
 * recreated, and the agent is informed.
 */
const conversationOf = (request: SeenRequest) =>
  JSON.stringify(
    messagesOf(request).filter(message => !JSON.stringify(message).includes('The workspace was recreated')),
  )
