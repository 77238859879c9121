import { join } from 'node:path'
import { expect } from 'vitest'
import { waitUntil } from '../../../src/system/processes.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import { TOKEN } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'
import { startServiceProcess } from '../recovery/service-process.ts'

/**
 * A run whose sandboxes use the driver that `env` names, from its creation to its branch. `gone`: whether
 * nothing of them is left.
 */
export async function playRun(
  driver: string,
  env: Record<string, string>,
  gone: (data_dir: string) => boolean,
): Promise<void> {
  const show_sandbox = 'cat two.txt; pwd; curl -sS http://example.org/ | head -c 100'
  await using app = await startCodingApp(
    responses(
      calls(shell('cd /tmp; echo two > /workspace/two.txt')),
      calls(shell(`cd /workspace; ${show_sandbox}`)),
      {
        text: 'Two is there.',
      },
    ),
    env,
  )
  const { id } = await createRun(app, { prompt: 'write two' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed', result: 'Two is there.' })
  const outputs = logs.flatMap(entry => entry.tool_output?.output ?? [])
  expect(outputs.at(-1)).toMatch(/^two\n\/workspace\n.*example\.org/)
  expect(run.github_pull_requests).toHaveLength(1)
  const [branch = ''] = app
    .git('for-each-ref', '--format=%(refname:short)', 'refs/heads/agent')
    .trim()
    .split('\n')
  expect(app.git('show', `${branch}:two.txt`)).toBe('two\n')
  const ready = await (await fetch(`${app.base_url}/readyz`)).json()
  expect(ready).toMatchObject({
    sandbox: driver,
    sandbox_limits: { memory: driver, cpu: driver, processes: driver },
  })
  expect(await waitUntil(() => gone(app.data_dir), 10_000)).toBe(true)
}

/**
 * A run whose service is killed and restarted: its sandboxes end with the first, and the second continues.
 * Returns when it has ended normally.
 */
export async function killAndGoOn(
  env: Record<string, string>,
  seen: {
    atWork(data_dir: string): boolean
    killed(data_dir: string): Promise<void> | void
    wentOn?(): void
  },
): Promise<void> {
  using folder = temporaryFolder()
  const repository = makeRepository()
  const data_dir = env.AGENTRUN_DATA_DIR ?? join(folder.path, 'data')
  const later = calls(shell('cat kept.txt'))
  await using model = await startFakeOpenAI(
    (_request, n) =>
      [calls(shell('echo kept > kept.txt')), calls(shell('sleep 12345')), later][n] ?? { text: 'recovered' },
  )
  const given = {
    ...env,
    AGENTRUN_DATA_DIR: data_dir,
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: repository,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_LIMIT_STANDARD: 'off',
    AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
  }
  const first = await startServiceProcess(given)
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const at = (service: { base_url: string }, path: string) =>
    `${service.base_url}/v1/organizations/1/agent/run${path}`
  const created = await fetch(at(first, ''), {
    method: 'POST',
    headers,
    body: JSON.stringify({ prompt: 'survive' }),
  })
  const { id } = (await created.json()) as { id: number }
  expect(await waitUntil(() => model.requests.length === 2 && seen.atWork(data_dir), 30_000)).toBe(true)
  first.child.kill('SIGKILL')
  await first.ended
  await seen.killed(data_dir)

  const second = await startServiceProcess(given)
  const ended = async () =>
    ((await (await fetch(at(second, `/${id}`), { headers })).json()) as { terminal: boolean; result: string })
      .terminal
  expect(await waitUntil(ended, 90_000, 50)).toBe(true)
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('kept')
  seen.wentOn?.()
  second.child.kill('SIGTERM')
  expect(await second.ended).toMatchObject({ code: 0 })
}
