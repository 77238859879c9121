import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { FakeScript } from '../model/fake-server.ts'
import { callsInTurn, hostile, playRun, startMcpApp } from './mcp-app.ts'

type McpApp = Awaited<ReturnType<typeof startMcpApp>>

/**
 * A service whose runs use programs that speak MCP, well and badly, as server `odd`. `script`: of the model,
 * as the test sets it.
 */
export type ProgramsApp = {
  app: McpApp
  script: FakeScript
  /** Plays a run whose agent calls the tool of a program that behaves as `how`. The run always completes. */
  play(how: string, options?: { text?: string; calls?: number; more?: object }): ReturnType<typeof playOf>
}

/** Starts it before the tests of a file, and removes the server after each. Use its fields in tests only. */
export function programsApp(): ProgramsApp {
  const used = { script: callsInTurn() } as ProgramsApp
  used.play = (how, options) => playOf(used, how, options)
  beforeAll(async () => {
    used.app = await startMcpApp((request, n) => used.script(request, n))
  })
  afterAll(() => used.app[Symbol.asyncDispose]())
  afterEach(() => used.app.servers.remove('odd'))
  return used
}

async function playOf(used: ProgramsApp, how: string, { text = 'hello', calls = 1, more = {} } = {}) {
  await used.app.servers.set('odd', hostile(how, more))
  used.script = callsInTurn(
    ...Array.from({ length: calls }, () => ({ name: 'odd__act', arguments: { text } })),
  )
  const played = await playRun(used.app)
  expect(played.run).toMatchObject({ status: 'completed', result: 'Done.' })
  return { ...played, results: played.actions.filter(({ tool_name }) => tool_name === 'odd__act') }
}
