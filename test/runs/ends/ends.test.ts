// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exit, exitCodeOfRun } from '../../../src/client/cli/exit.ts'
import { runLine, runTable } from '../../../src/client/cli/format-run.ts'
import { createClient, hasSucceeded } from '../../../src/client/sdk/client.ts'
import { completionReasons } from '../../../src/contract/runs/runs.ts'
import { withProfile } from '../../api/clients/with-profile.ts'
import { runCli } from '../../client/run-cli.ts'
import { connectClient, type McpClient } from '../../mcp/connect-client.ts'
import { program_env } from '../../system/program-env.ts'
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts'
import { setHook } from '../../webhooks/webhook-app.ts'
import { allLogs } from '../await-run.ts'
import { type EndedApp, ends, startEnds } from './start-ends.ts'

const stack = new AsyncDisposableStack()
let app: EndedApp
let receiver: Receiver
let mcp: McpClient
let succeeded_in_python: Record<string, boolean>
beforeAll(async () => {
  receiver = stack.use(await startReceiver())
  app = stack.use(await startEnds(app => setHook(app, receiver.url, { events: ['agent_run.finished'] })))
  mcp = stack.use(await connectClient(app))
  succeeded_in_python = await readInPython([...app.runs.values()].map(run => run.id))
}, 600_000)
afterAll(() => stack.disposeAsync())

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`

/** Reads the runs by the Python client. */
async function readInPython(ids: number[]): Promise<Record<string, boolean>> {
  const code = `import json, sys
from agentrun import Client, has_succeeded
client = Client("${app.base_url}", token="${app.token}")
print(json.dumps({id: has_succeeded(client.runs.get(id)) for id in json.loads(sys.argv[1])}))`
  const env = {
    ...program_env,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPATH: join(import.meta.dirname, '../../../clients/python/src'),
  }
  const { stdout } = await promisify(execFile)('/usr/bin/python3', ['-c', code, JSON.stringify(ids)], { env })
  return JSON.parse(stdout)
}

test('the table of ends has every reason of a completed run', () => {
  const completed = ends.filter(
    ({ status, status_reason }) => status === 'completed' && status_reason !== null,
  )
  expect(new Set(completed.map(end => end.status_reason))).toEqual(new Set(completionReasons))
})

test.each(ends)(
  '$name: the run object has status and reason, in both wire profiles, and its answer names the reason',
  async end => {
    const { status, status_reason } = end
    const run = app.runs.get(end.name)
    expect({ status: run.status, status_reason: run.status_reason, result: run.result }).toMatchObject({
      status,
      status_reason,
    })
    const codegen = await (await withProfile(app, 'codegen')).call('GET', at(`/agent/run/${run.id}`))
    expect(codegen.body).toMatchObject({
      status: status === 'completed' ? 'COMPLETE' : 'ERROR',
      status_reason,
    })
    if (status !== 'completed') return expect(run.error.message).not.toBe('')
    expect(run.error).toBeNull()
    const last = (await allLogs(app, run.id)).at(-1)
    expect([last.message_type, last.observation]).toEqual(['FINAL_ANSWER', run.result])
    // The result of a detection is JSON, which names why nothing is proved.
    if (status_reason === 'setup_unverified')
      return expect(JSON.parse(run.result)).toMatchObject({ verified: false })
    const sentences = run.result.split('\n\n')
    if (status_reason !== null)
      expect(sentences).toContainEqual(expect.stringMatching(SENTENCES[status_reason] ?? /^$/))
  },
)

const SENTENCES: Record<string, RegExp> = {
  no_effect: /changed nothing\.$|^Nothing that the agent changed is in a commit.*: `(lib|count.js)`\.$/,
  push_refused: /^The remote refused the branch /,
  pull_request_refused: /^The branch is pushed, but its pull request .* 403/,
  checks_failed: /^Checks of commit .* failed \(test\)/,
  checks_unfinished: /^Checks of commit .* have not all ended/,
  work_lost: /^Changes of some actions were lost.* \(entries \d+\)\.$/,
  last_response_missing: /^The last call of the model has no response/,
  review_failed: /^The review failed: problems in commit /,
  setup_failed: /failed: `exit 3`\.$/,
  tool_failed: /^The tool call failed/,
  explanation_failed: /^The model gave no explanation/,
}

test.each(ends)(
  '$name: lists filter by the reason, by HTTP and by MCP',
  async ({ name, status, status_reason }) => {
    const { id } = app.runs.get(name)
    const archived = name === 'tool_failed'
    const query = status_reason === null ? '' : `&status_reason=${status_reason}`
    const { body } = await app.call(
      'GET',
      at(`/agent/runs?limit=100&status=${status}&archived=${archived}${query}`),
    )
    const item = body.items.find((one: any) => one.id === id)
    expect(item).toMatchObject({ status, status_reason })
    if (status_reason !== null)
      expect(new Set(body.items.map((one: any) => one.status_reason))).toEqual(new Set([status_reason]))
    expect(await mcp.succeed('get_agent_run', { agent_run_id: id })).toMatchObject({ status, status_reason })
    const listed = await mcp.succeed('list_agent_runs', {
      status: [status],
      archived,
      ...(status_reason && { status_reason: [status_reason] }),
    })
    expect(listed.items.map((one: any) => one.id)).toContain(id)
  },
)

test.each(ends)(
  '$name: a webhook, the command line, and both SDKs distinguish it from a success',
  async ({ name, status, status_reason }) => {
    const run = app.runs.get(name)
    const messages = await receiver.until(
      run.turn,
      received => (received.message.data as any).agent_run_id === run.id,
    )
    expect(JSON.stringify(messages.at(-1)?.message.data)).toContain(
      `"status":"${status}","status_reason":${JSON.stringify(status_reason)}`,
    )
    const is_success = status === 'completed' && status_reason === null
    const read = await createClient({
      base_url: app.base_url,
      token: app.token,
      organization_id: app.org_id,
    }).runs.get(run.id)
    expect([hasSucceeded(read), succeeded_in_python[run.id]]).toEqual([is_success, is_success])
    expect(exitCodeOfRun(read)).toBe(
      is_success ? exit.success : status === 'completed' ? exit.incomplete : exit.failed,
    )
    const colour = is_success ? 'green' : status === 'completed' ? 'yellow' : 'red'
    const print = { style: (style: string, text: string) => `<${style}>${text}`, width: 200 }
    const shown = `<${colour}>${status}${status_reason === null ? '' : ` (${status_reason})`}`
    expect(runLine(read, print)).toContain(shown)
    expect(runTable([read], print, Date.now()).join('\n')).toContain(shown)
  },
)

test('the command line waits for a run, prints its reason and ends with the exit code 5', async () => {
  const env = { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token }
  const { code, out } = await runCli(['run', 'end: review_failed', '--wait'], { env })
  expect(out).toContain('completed (review_failed)')
  expect(code).toBe(5)
})

test('usage counts completed turns with a reason apart, and they are not a success', async () => {
  const { total } = (await app.call('GET', at('/usage'))).body
  const count = (fits: (end: (typeof ends)[number]) => boolean) => ends.filter(fits).length
  // The run that is analyzed, the one of the command line, and the first turn of the one that lost work are
  // in no row of the table.
  const [completed, with_reason] = [
    count(end => end.status === 'completed') + 2,
    count(end => end.status_reason !== null && end.status === 'completed') + 1,
  ]
  const failed = count(end => end.status === 'failed') + 1
  expect(total).toMatchObject({ completed, completed_with_reason: with_reason, failed })
  expect(total.success_rate).toBeCloseTo((completed - with_reason) / (completed + failed), 3)
})

test('the status of the commit on the forge is neutral, and names the reason', async () => {
  const { id } = app.runs.get('checks_unfinished')
  const marks = () =>
    app.github.state.statuses.filter(one => one.target_url?.endsWith(`/${id}`)).map(one => one.description)
  await expect.poll(() => marks().at(-1), { timeout: 30_000 }).toMatch(/^Completed, /)
})
