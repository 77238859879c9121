import { expect, test } from 'vitest'
import { RunDiff } from '../../../src/contract/runs/run-diff.ts'
import { expectProblem } from '../../api/expect-problem.ts'
import type { App } from '../../start-app.ts'
import { rows, startApp } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, shell, startCodingApp } from '../coding-app.ts'

type Message = { role: string; content: unknown; tool_calls?: unknown[] }
const path = (app: App) => `/v1/organizations/${app.org_id}/agent/run`
const fork = (app: App, body: object) => app.call('POST', `${path(app)}/fork`, body)
const diff = (app: App, id: number, query: string) => app.call('GET', `${path(app)}/${id}/diff?${query}`)
const listed = ({ body }: { body: RunDiff }) =>
  RunDiff.strict()
    .parse(body)
    .files.map(file => `${file.status} ${file.path}`)

/**
 * A run of three steps that change files: the second with two calls in one response. Forks report what they
 * see.
 */
async function startForked(input: Record<string, unknown> = {}) {
  let n = 0
  const app = await startCodingApp(request => {
    const { messages } = request.body as { messages: Message[] }
    const last = JSON.stringify(messages.at(-1)?.content)
    if (/Look around|Continue/.test(last))
      return calls(shell('cat *.txt 2>&1; ls -A; git status --porcelain; git log --format=%s'))
    if (messages.some(message => /Look around|Continue/.test(JSON.stringify(message.content))))
      return { text: 'Looked.' }
    return (
      [
        calls(shell('echo one > one.txt; echo "*.log" > .gitignore; echo x > x.log')),
        calls(
          shell('echo two > two.txt; git add one.txt; git commit -qm "By the agent"'),
          shell('rm one.txt; echo three > three.txt'),
        ),
        calls(shell('echo four > four.txt')),
      ][n++] ?? { text: 'Done.' }
    )
  })
  const { id } = await createRun(app, { prompt: 'Make files', ...input })
  expect((await awaitEnd(app, id)).status).toBe('completed')
  const logs = await allLogs(app, id)
  const at = (text: string) =>
    Number(logs.find(entry => JSON.stringify(entry.tool_input).includes(text))?.seq)
  return { app, id, logs, at }
}

test('a fork from the middle has the conversation and files of that entry, committed or not, and nothing later', async () => {
  const { app, id, at, logs } = await startForked()
  await using _app = app
  const { status, body } = await fork(app, {
    agent_run_id: id,
    from_seq: at('echo two'),
    prompt: 'Look around',
  })
  expect(status).toBe(200)
  const run = await awaitEnd(app, body.id)
  expect(run).toMatchObject({
    status: 'completed',
    source_type: 'FORK',
    parent_run_id: id,
    result: 'Looked.',
  })

  const request = app.model.requests.find(({ body }) => JSON.stringify(body).includes('Look around'))
  const { messages } = (request?.body ?? {}) as { messages: Message[] }
  const reported = JSON.stringify(messages)
  expect(reported).toContain('echo two')
  expect(reported).toContain('Not run: the run was forked before.')
  expect(reported).not.toContain('echo four')
  expect(reported).not.toContain('Done.')
  expect(messages.at(-1)).toMatchObject({ role: 'user' })

  const trace = await allLogs(app, body.id)
  expect(trace.slice(0, 5).map(({ message_type, tool_name }) => tool_name ?? message_type)).toEqual([
    ...['USER_MESSAGE', 'AGENT_RUN_LINK', 'repository_instructions', 'workspace_restored', 'shell'],
  ])
  const { output } = trace.find(({ tool_name }) => tool_name === 'shell').tool_output
  expect(output).toBe(
    'one\ntwo\n.git\n.gitignore\nAGENTS.md\nREADME.md\ncount.js\none.txt\ntwo.txt\n?? .gitignore\n?? two.txt\nBy the agent\nadd AGENTS.md\nadd count.js\nadd README.md\n',
  )
  expect((await allLogs(app, id)).slice(0, logs.length)).toEqual(logs)
})

test('a fork of the last entry, of a fork, and of a run that was deleted since', async () => {
  const { app, id, logs } = await startForked()
  await using _app = app
  const first = (await fork(app, { agent_run_id: id, from_seq: logs.length })).body
  const done = await awaitEnd(app, first.id)
  expect(done.branch).not.toBe((await app.call('GET', `${path(app)}/${id}`)).body.branch)
  expect((await app.call('DELETE', `${path(app)}/${id}`)).status).toBe(200)
  const again = (await fork(app, { agent_run_id: first.id, from_seq: 2 })).body
  expect(await awaitEnd(app, again.id)).toMatchObject({ status: 'completed', result: 'Looked.' })
  const output = async (run_id: number) =>
    (await allLogs(app, run_id)).find(({ tool_name }) => tool_name === 'shell').tool_output.output as string
  expect(await output(first.id)).toContain('four\nthree\ntwo\n')
  expect(await output(again.id)).toBe(await output(first.id))
})

test('the change between two entries is that of the files, on any API process, as json and as a patch', async () => {
  const { app, id, at, logs } = await startForked()
  await using _app = app
  const [one, two, three, four] = ['echo one', 'echo two', 'echo three', 'echo four'].map(at)
  await using elsewhere = await startApp({ DATABASE_URL: app.database_url, AGENTRUN_WORKER_CONCURRENCY: '0' })
  for (const node of [app, elsewhere]) {
    expect(listed(await diff(node, id, `from_seq=0&to_seq=${one}`))).toEqual([
      'added .gitignore',
      'added one.txt',
    ])
    expect(listed(await diff(node, id, `from_seq=${one}&to_seq=${two}`))).toEqual(['added two.txt'])
    expect(listed(await diff(node, id, `from_seq=${two}&to_seq=${three}`))).toEqual([
      'deleted one.txt',
      'added three.txt',
    ])
    expect(listed(await diff(node, id, `from_seq=${Number(four) - 1}`))).toEqual(['added four.txt'])
    expect(listed(await diff(node, id, `to_seq=${logs.length}`))).toEqual([
      ...['added .gitignore', 'added four.txt', 'added three.txt', 'added two.txt'],
    ])
  }
  const { body } = await diff(elsewhere, id, `from_seq=${one}&to_seq=${two}&format=patch`)
  expect(body).toBe(
    'diff --git a/two.txt b/two.txt\nnew file mode 100644\nindex 0000000..f719efd\n--- /dev/null\n+++ b/two.txt\n@@ -0,0 +1 @@\n+two\n',
  )
  expect((await diff(app, id, `from_seq=${logs.length}`)).body).toMatchObject({
    files: [],
    to_seq: logs.length,
  })
})

test('a fork and a diff reject a pack that was damaged in the database', async () => {
  // Files that the remote also has are taken from there.
  const { app, id, at } = await startForked({ repo_id: null, repoless: true })
  await using _app = app
  const [found] = await rows<{ packs: number }>(
    app,
    'select packs from checkpoints where run_id = $1 and seq = $2',
    [id, at('echo four')],
  )
  const damaged = 'set_byte(content, 20, get_byte(content, 20) # 255)'
  await rows(app, `update checkpoint_packs set content = ${damaged} where run_id = $1 and n >= $2`, [
    id,
    found?.packs,
  ])
  await using elsewhere = await startApp({ DATABASE_URL: app.database_url, AGENTRUN_WORKER_CONCURRENCY: '0' })
  expectProblem(await diff(elsewhere, id, `to_seq=${at('echo four')}`), 409)
  expectProblem(await fork(app, { agent_run_id: id, from_seq: at('echo four') }), 409)
})
