import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../../src/system/processes.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import { TOKEN } from '../../start-app.ts'
import { testFolder } from '../../temporary-folder.ts'
import { calls, gitIn, makeRepository, shell } from '../coding-app.ts'
import { makeManyFiles } from '../git/many-files.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { startServiceProcess } from './service-process.ts'

let folder: string
let repository: string
let large: string
beforeAll(() => {
  folder = testFolder()
  repository = makeRepository()
  large = makeManyFiles()
})

// biome-ignore lint/suspicious/noExplicitAny: responses are read without types
async function call(base_url: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${base_url}/v1/organizations/1/agent${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return response.json()
}

// `until` polls more often than a client may.
const no_limits = { AGENTRUN_LIMIT_STANDARD: 'off', AGENTRUN_LIMIT_TOKEN_TOTAL: 'off' }

/**
 * Polls until the run is as expected; the service is another process, so there is nothing else to wait for.
 */
// biome-ignore lint/suspicious/noExplicitAny: responses are read without types
async function until(base_url: string, id: number, fits: (run: any) => boolean): Promise<any> {
  for (const end = Date.now() + 40_000; Date.now() < end; ) {
    const run = await call(base_url, 'GET', `/run/${id}`)
    if (fits(run)) return run
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(
    `run ${id} did not become as expected: ${JSON.stringify(await call(base_url, 'GET', `/run/${id}`))}`,
  )
}

test.each([
  ['a clone', () => repository, 4],
  // It has no instructions.
  ['a layer', () => large, 3],
])(
  'kill -9 of the service with %s: sandbox gone, and the next start continues: nothing committed is repeated, the command in flight is interrupted',
  async (kind, repositoryOf, logs_then) => {
    const data_dir = join(folder, kind.replace(' ', '-'))
    const noneLeft = () => waitUntil(() => sandboxProcesses(data_dir).length === 0, 3_000)
    await using model = await startFakeOpenAI(
      (_request, n) =>
        [
          calls(shell('echo kept >> kept.txt')),
          calls(shell('echo once >> once.txt; sleep 12345')),
          calls(shell('cat kept.txt; sleep 2')),
          calls(shell('cat kept.txt')),
        ][n] ?? { text: 'recovered' },
    )
    const env = {
      ...no_limits,
      AGENTRUN_DATA_DIR: data_dir,
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_INIT_REPO_URL: repositoryOf(),
      OPENAI_COMPATIBLE_BASE_URL: model.base_url,
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    }
    const first = await startServiceProcess(env)
    expect(first.base_url, first.output).not.toBe('')
    const second = await startServiceProcess(env)
    expect(await second.ended).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^cannot start: .*in use by process \d+/m),
    })

    const { id } = await call(first.base_url, 'POST', '/run', { prompt: 'survive' })
    await until(first.base_url, id, run => run.total_logs >= logs_then && model.requests.length === 2)
    const before = await call(first.base_url, 'GET', `/run/${id}/logs`)
    expect(readdirSync(join(data_dir, 'workspaces')).some(name => name.includes('.on.'))).toBe(
      kind === 'a layer',
    )
    expect(sandboxProcesses(data_dir)).not.toEqual([])
    first.child.kill('SIGKILL')
    await first.ended
    expect(await noneLeft()).toBe(true)

    const again = await startServiceProcess(env)
    expect(again.base_url, again.output).not.toBe('')
    await until(again.base_url, id, () => model.requests.length === 3)
    expect(JSON.stringify(model.requests[2]?.body)).toContain('it may or may not have completed')
    const after = await call(again.base_url, 'GET', `/run/${id}/logs`)
    expect(after.logs.slice(0, before.logs.length)).toEqual(before.logs)
    const closed = after.logs.find(
      (entry: { tool_output: { status: string } | null }) => entry.tool_output?.status === 'interrupted',
    )
    expect(closed).toMatchObject({ message_type: 'ACTION', tool_name: 'shell', turn: 1 })

    again.child.kill('SIGINT')
    again.child.kill('SIGINT')
    expect(await again.ended).toMatchObject({ code: 0 })
    expect(await noneLeft()).toBe(true)

    const third = await startServiceProcess(env)
    const done = await until(third.base_url, id, run => run.terminal)
    expect(done).toMatchObject({ status: 'completed', turn: 1, result: 'recovered' })
    const { logs } = await call(third.base_url, 'GET', `/run/${id}/logs`)
    expect(logs.map((entry: { seq: number }) => entry.seq)).toEqual(
      logs.map((_: unknown, i: number) => i + 1),
    )
    expect(
      logs.filter((entry: { tool_name: string }) => entry.tool_name === 'shell').at(-1).tool_output.output,
    ).toBe('kept\n')
    third.child.kill('SIGTERM')
    expect(await third.ended).toMatchObject({ code: 0 })
  },
  120_000,
)

test('a configuration with mistakes is refused with all of them, before anything is started', async () => {
  const service = await startServiceProcess({
    AGENTRUN_DATA_DIR: join(folder, 'other'),
    AGENTRUN_PORT: 'x',
    AGENTRUN_INIT_TOKEN: 'short',
    AGENTRUN_NO_SUCH: '1',
  })
  const { code, output } = await service.ended
  expect(code).toBe(1)
  expect(output).toMatch(/3 mistakes/)
})

test('Ctrl-C during a push: the next start pushes and opens the pull request, without another call of the model', async () => {
  await using model = await startFakeOpenAI(
    (_request, n) => [calls(shell('echo late > late.txt'))][n] ?? { text: 'Written.' },
  )
  const slow = makeRepository()
  const hook = join(slow, '.git/hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\nsleep 30\n', { mode: 0o755 })
  const env = {
    ...no_limits,
    AGENTRUN_DATA_DIR: join(folder, 'pushing'),
    AGENTRUN_SHUTDOWN_GRACE_SECONDS: '1',
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: slow,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
  }
  const first = await startServiceProcess(env)
  const { id } = await call(first.base_url, 'POST', '/run', { prompt: 'write late' })
  await until(first.base_url, id, run => run.phase === 'push')
  first.child.kill('SIGINT')
  expect(await first.ended).toMatchObject({ code: 0 })
  rmSync(hook)
  const again = await startServiceProcess(env)
  const run = await until(again.base_url, id, state => state.terminal)
  expect(run).toMatchObject({
    status: 'completed',
    turn: 1,
    result: 'Written.',
    github_pull_requests: [{ number: 1 }],
  })
  expect(model.requests).toHaveLength(2)
  expect(gitIn(slow, 'show', `${run.branch}:late.txt`)).toBe('late\n')
  again.child.kill('SIGTERM')
  await again.ended
}, 60_000)
