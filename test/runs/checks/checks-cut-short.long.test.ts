// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { saveCheck } from '../../../src/store/pull-requests/checks.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun } from '../await-run.ts'
import { calls, shell } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { type CheckedApp, startCheckedApp } from './checked-app.ts'

let app: CheckedApp
beforeAll(async () => {
  app = await startCheckedApp()
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => app.forget())

test('a stop while a check runs ends it immediately and leaves no process; the check is cancelled', async () => {
  await app.checkBy({ long: app.callCommand() })
  const { reached } = app.holdNext()
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const id = await app.start()
  await reached
  const before = (await app.call('GET', app.at(`/agent/run/${id}`))).body
  expect(before).toMatchObject({ status: 'running', phase: 'evaluate', waiting_on: 'ci' })
  expect((await app.pullRequestOf(before)).checks).toMatchObject({ state: 'pending', pending: 1 })
  await app.call('POST', app.at('/agent/run/stop'), { agent_run_id: id })
  const { run, detected, pr } = await app.seen(id)
  expect([run.status, detected]).toEqual(['cancelled', []])
  expect(sandboxProcesses(app.data_dir)).toEqual([])
  const { body } = await app.call('GET', app.at(`/prs/${pr.id}/checks`))
  expect(body.items).toMatchObject([{ name: 'long', status: 'completed', conclusion: 'cancelled' }])
})

test('a budget also limits attempts to fix a check, and a larger one lets the run continue from there', async () => {
  await app.checkBy({ test: 'test -e two.txt' })
  app.script = [
    calls(shell('echo 1 >one.txt')),
    { text: 'One.' },
    calls(shell('echo 2 >two.txt')),
    { text: 'Two.' },
  ]
  const id = await app.start({ budget: { max_steps: 3 } })
  expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({
    status_reason: 'budget',
    turn: 1,
  })
  await app.call('POST', app.at('/agent/run/resume'), {
    agent_run_id: id,
    prompt: 'Go on.',
    budget: { max_steps: 10 },
  })
  const { run, detected, fixed } = await app.seen(id)
  expect(run).toMatchObject({ status: 'completed', turn: 1 })
  expect([detected.length, fixed.length]).toEqual([1, 1])
  expect(fixed[0]).toMatchObject({ fixed_checks: ['test'] })
})

test('a message that interrupts ends a running check and is read first; the interrupted check runs again', async () => {
  await app.checkBy({ test: `test -e two.txt || { ${app.callCommand()}; exit 1; }` })
  const { reached } = app.holdNext()
  app.script = [
    calls(shell('echo 1 >one.txt')),
    { text: 'One.' },
    calls(shell('echo 2 >two.txt')),
    { text: 'Two.' },
  ]
  const id = await app.start()
  await reached
  const message = { agent_run_id: id, prompt: 'Make two.txt too.', mode: 'interrupt' }
  expect((await app.call('POST', app.at('/agent/run/resume'), message)).status).toBe(200)
  const { run, detected, checks } = await app.seen(id)
  expect(run, JSON.stringify(run.error)).toMatchObject({ status: 'completed', turn: 1 })
  expect(run.result).toMatch(/^Two\.\n\nChecks: the one check of commit [0-9a-f]{12} passed\.$/)
  expect([detected, checks.map(entry => entry.tool_output.conclusion)]).toEqual([[], ['success']])
})

test('a budget of time cuts a check short', async () => {
  await app.checkBy({ test: 'sleep 1000' }, 3_600)
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'One.' }]
  const id = await app.start({ budget: { max_active_seconds: 8 } })
  const run = await awaitRun(app, id, ({ status }) => status === 'paused')
  expect(run).toMatchObject({ status_reason: 'budget' })
  expect(sandboxProcesses(app.data_dir)).toEqual([])
  await app.call('POST', app.at('/agent/run/stop'), { agent_run_id: id })
})

test('a ban while checks run ends it: no further attempt', async () => {
  await app.checkBy({ test: `${app.callCommand()}; exit 1` })
  const { reached, open } = app.holdNext()
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const id = await app.start()
  await reached
  await app.call('POST', app.at('/agent/run/ban'), { agent_run_id: id })
  open()
  const { run, detected } = await app.seen(id)
  expect([run.status, run.banned, detected]).toEqual(['cancelled', true, []])
})

test('no failing check is fixed in a pull request that a person closed in the meantime', async () => {
  await app.checkBy({ test: app.callCommand() })
  const { reached, open } = app.holdNext(500)
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const id = await app.start()
  await reached
  const run = (await app.call('GET', app.at(`/agent/run/${id}`))).body
  await app.call('PATCH', app.at(`/prs/${run.github_pull_requests[0].id}`), { state: 'closed' })
  open()
  const { detected, fixed, pr } = await app.seen(id)
  expect(detected).toMatchObject([{ attempt: 0, checks: [{ name: 'test' }] }])
  expect(fixed).toMatchObject([{ stopped_because: 'pull_request_ended' }])
  expect(pr.state).toBe('closed')
})

describe('checks of a forge', () => {
  /** A run whose commit has an unfinished check of a forge before its own check is over. */
  async function withForgeCheck(): Promise<{
    id: number
    reportCheck(conclusion: 'success' | 'failure' | null, attempt?: number): Promise<unknown>
  }> {
    await app.checkBy({ own: app.callCommand() })
    const { reached, open } = app.holdNext()
    const id = await app.start()
    await reached
    const reportCheck = async (conclusion: 'success' | 'failure' | null, attempt = 1) => {
      const [run] = await rows<{ pushed_sha: string }>(app, 'select pushed_sha from runs where id = $1', [id])
      return saveCheck(app.db, app.org_id, app.repo_id, {
        head_sha: run?.pushed_sha ?? '',
        source: 'github',
        name: 'ci',
        app: 'actions',
        url: 'https://ci.example.org/1',
        attempt,
        status: conclusion === null ? 'in_progress' : 'completed',
        conclusion,
        log_excerpt: conclusion === 'failure' ? 'not ok' : null,
        started_at: null,
        completed_at: null,
      })
    }
    await reportCheck(null)
    open()
    return { id, reportCheck }
  }
  const waits = (id: number) => awaitRun(app, id, run => run.status === 'waiting' && run.waiting_on === 'ci')

  test('are awaited without a worker; when all have passed the answer is written', async () => {
    app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const { id, reportCheck } = await withForgeCheck()
    const waiting = await waits(id)
    expect(waiting).toMatchObject({ result: '', phase: null })
    expect((await allLogs(app, id)).some(entry => entry.message_type === 'FINAL_ANSWER')).toBe(false)
    await reportCheck('success')
    const { run, checks } = await app.seen(id)
    expect(run.result).toMatch(/^Made\.\n\nChecks: all 2 checks .* passed\.$/)
    // A check that passed at this commit does not run again.
    expect(checks).toHaveLength(1)
  })

  test('that fail go back to the agent like other checks; the turn ends when the commit is unchanged and no check runs again', async () => {
    app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }, { text: 'It is not mine.' }]
    const { id, reportCheck } = await withForgeCheck()
    await waits(id)
    await reportCheck('failure')
    const { run, detected, fixed } = await app.seen(id)
    expect(detected).toMatchObject([
      { checks: [{ name: 'ci', url: 'https://ci.example.org/1', log_excerpt: 'not ok' }] },
    ])
    expect(fixed).toMatchObject([{ stopped_because: 'same_diff', remaining_checks: ['ci'] }])
    expect(run.result).toContain('because the files are what they were in an earlier attempt.')
  })

  test('are awaited up to the timeout of the service, and a stop ends the wait immediately', async () => {
    app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const { id } = await withForgeCheck()
    await waits(id)
    await rows(
      app,
      `update journal
        set created_at = created_at - interval '1 day'
        where run_id = $1 and kind = 'push_started'`,
      [id],
    )
    await rows(app, `update runs set deadline_at = now() where id = $1`, [id])
    const { run } = await app.seen(id)
    expect(run.result).toMatch(
      /have not all ended\. No further attempt is made, because checks were waited for as long as the service does\.$/,
    )
    app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const other = await withForgeCheck()
    await waits(other.id)
    await app.call('POST', app.at('/agent/run/stop'), { agent_run_id: other.id })
    expect(await awaitEnd(app, other.id)).toMatchObject({ status: 'cancelled' })
  })
})
