import { afterAll, beforeAll, expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, startCodingApp } from '../runs/coding-app.ts'
import { programFolder, programSettings } from './program-app.ts'

/** The request, the result that the agent sends for it, and the error of its run; null: it completes. */
const CASES: [string, unknown, string | null][] = [
  [
    'initialize',
    null,
    'This service speaks version 1 of the Agent Client Protocol, and the agent version none',
  ],
  [
    'initialize',
    { protocolVersion: 2 },
    'This service speaks version 1 of the Agent Client Protocol, and the agent version 2',
  ],
  [
    'initialize',
    { protocolVersion: 1, agentInfo: 'x', agentCapabilities: { loadSession: 'yes', sessionCapabilities: 5 } },
    null,
  ],
  ['session/new', null, 'Its response to session/new has no sessionId: null'],
  [
    'session/new',
    { sessionId: { a: 1 } },
    'Its response to session/new has no sessionId: {"sessionId":{"a":1}}',
  ],
  ['session/prompt', null, 'Its response to session/prompt has no stopReason: null'],
  ['session/prompt', { stopReason: 7 }, 'Its response to session/prompt has no stopReason: {"stopReason":7}'],
]

let app: CodingApp
beforeAll(async () => {
  const folder = programFolder('.', 'program.mjs')
  const agents = CASES.map(([ODD, result], i) => [
    `odd_${i}`,
    {
      folder,
      command: `exec node /opt/agents/odd_${i}/program.mjs`,
      apis: ['openai-chat'],
      ...programSettings({ ODD, ODD_RESULT: JSON.stringify(result) }),
    },
  ])
  app = await startCodingApp(() => ({ text: 'Hello.' }), {
    AGENTRUN_AGENTS: JSON.stringify(Object.fromEntries(agents)),
  })
})
afterAll(() => app[Symbol.asyncDispose]())

test.each(
  CASES.map(([method, result, error], i) => ({
    method,
    result: JSON.stringify(result),
    error,
    agent_type: `odd_${i}`,
  })),
)(
  'a run names what is wrong with a response of its agent: $method with $result',
  async ({ agent_type, error }) => {
    const { id } = await createRun(app, { prompt: 'do: call | say Hi.', agent_type })
    const run = await awaitEnd(app, id)
    if (error === null) expect(run).toMatchObject({ status: 'completed', result: '[200]Hi.' })
    else
      expect(run).toMatchObject({
        status: 'failed',
        error: { code: 'agent_failed', message: `${agent_type}: ${error}` },
      })
  },
)
