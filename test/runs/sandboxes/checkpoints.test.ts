import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TO_THE_END } from '../../../src/store/workspaces/checkpoints.ts'
import { ownFolderId } from '../../../src/system/data-folder-id.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { sweepWorkspaces } from '../../../src/worker/sweep/sweep-files.ts'
import { type App, rows } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

type Row = {
  seq: number
  through_seq: number
  packs: number
  tree: string
  head: string | null
  branch: string | null
  left_out: string | null
}
const checkpointsOf = (app: App, id: number) =>
  rows<Row>(
    app,
    `select seq, through_seq, packs, tree, head, branch, left_out
      from checkpoints
      where run_id = $1
      order by seq`,
    [id],
  )
const resume = (app: App, id: number, prompt: string) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, prompt })

/** What the sweep does half a minute after the end of the run. */
async function removeFiles(app: App, id: number): Promise<string> {
  const [run] = await rows<{ workspace: string }>(
    app,
    `update runs
      set finished_at = now() - interval '31 seconds'
      where id = $1
      returning workspace`,
    [id],
  )
  await sweepWorkspaces({ db: app.db, folder_id: ownFolderId(app.data_dir), users: ensureSystemUsers() })
  return run?.workspace ?? ''
}

test('each step that changed files has a checkpoint, a step that did not has the previous one, and the last one is kept', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('true'), shell('echo one > new.txt')),
      calls(shell('cat new.txt'), { name: 'read', arguments: { path: 'new.txt' } }),
      calls({ name: 'write', arguments: { path: 'two.txt', content: 'two' } }, shell('rm two.txt')),
      { text: 'Done.' },
    ),
  )
  const { id } = await createRun(app, { prompt: 'change files' })
  const run = await awaitEnd(app, id)
  expect(run.status).toBe('completed')
  const logs = await allLogs(app, id)
  const found = await checkpointsOf(app, id)
  const at = (text: string) => logs.find(entry => JSON.stringify(entry.tool_input).includes(text))?.seq
  expect(found.map(({ seq }) => seq)).toEqual([
    0,
    at('echo one'),
    at('two.txt'),
    at('rm two.txt'),
    expect.any(Number),
  ])
  const [start, one, two, removed, last] = found
  expect(one?.through_seq).toBe(at('two.txt') - 2)
  expect(start?.through_seq).toBe(Number(at('echo one')) - 1)
  expect(removed?.tree).toBe(one?.tree)
  expect(two?.tree).not.toBe(one?.tree)
  // The commit at the end of the run is the last change of its files.
  expect(last).toMatchObject({
    tree: one?.tree,
    through_seq: TO_THE_END,
    branch: run.branch,
    head: app.git('rev-parse', run.branch).trim(),
  })
  const [stored] = await rows<{ packs: number; bytes: number }>(
    app,
    'select count(*) as packs, sum(length(content)) as bytes from checkpoint_packs',
  )
  expect(stored?.packs).toBeGreaterThan(0)
  expect(Number(stored?.bytes)).toBeLessThan(10_000)
})

test('the workspace of an ended run is removed, and a resume restores it, committed or not, without ignored files, and notifies the agent', async () => {
  await using app = await startCodingApp(
    responses(
      calls(
        shell(
          'echo "*.log" > .gitignore; echo ignored > x.log; echo kept > kept.txt; chmod +x kept.txt; git stash list',
        ),
      ),
      { text: 'First.' },
      calls(
        shell(
          'stat -c %a kept.txt; cat kept.txt; ls; git status --porcelain; git log --format=%s | head -1; git branch --show-current',
        ),
      ),
      { text: 'Second.' },
    ),
  )
  const { id } = await createRun(app, { prompt: 'make files', title: 'Make files' })
  const first = await awaitEnd(app, id)
  const workspace = await removeFiles(app, id)
  expect(existsSync(workspace)).toBe(false)
  await resume(app, id, 'look again')
  const second = await awaitEnd(app, id)
  expect(second).toMatchObject({ status: 'completed', result: 'Second.' })
  const logs = await allLogs(app, id)
  const restored = logs.find(entry => entry.tool_name === 'workspace_restored')
  const [last] = (await checkpointsOf(app, id)).slice(-1)
  expect(restored).toMatchObject({
    message_type: 'ACTION',
    turn: 2,
    tool_output: {
      status: 'ok',
      how: 'restored',
      matches: true,
      up_to_date: true,
      tree: last?.tree,
      commit: app.git('rev-parse', first.branch).trim(),
    },
  })
  const { output } = logs.findLast(entry => entry.tool_name === 'shell').tool_output
  expect(output).toBe(`755\nkept\nAGENTS.md\nREADME.md\ncount.js\nkept.txt\nMake files\n${first.branch}\n`)
  expect(JSON.stringify(app.model.requests[2]?.body)).toContain(
    'The workspace was recreated: its files are as they were.',
  )
  await expect
    .poll(() => readdirSync(join(app.data_dir, 'workspaces')).filter(name => name.endsWith('.shadow')))
    .toEqual([])
})

test('a run without a repository is restored', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('mkdir -p a/b; echo deep > a/b/c; echo up > top')),
      { text: 'First.' },
      calls(shell('cat a/b/c top; ls -A')),
      {
        text: 'Second.',
      },
    ),
  )
  const { id } = await createRun(app, { prompt: 'make files', repo_id: null, repoless: true })
  await awaitEnd(app, id)
  await removeFiles(app, id)
  await resume(app, id, 'look again')
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const logs = await allLogs(app, id)
  expect(logs.findLast(entry => entry.tool_name === 'shell').tool_output.output).toBe('deep\nup\na\ntop\n')
})

test('a workspace that is too large is reported once and blocks nothing; it is kept, because it is the only copy', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('echo fine > fine.txt')),
      calls(shell('head -c 1200000 /dev/zero > zeros; head -c 2000000 /dev/urandom > noise')),
      calls(shell('echo more > more.txt')),
      { text: 'First.' },
      calls(shell('wc -c < noise')),
      { text: 'Second.' },
    ),
    { AGENTRUN_CHECKPOINT_FILE_MAX_BYTES: '1000000' },
  )
  const { id } = await createRun(app, { prompt: 'make large files', auto_create_pr: false })
  expect((await awaitEnd(app, id)).status).toBe('completed')
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors).toMatchObject([
    { observation: { code: 'checkpoint_too_large', retryable: false, phase: 'checkpoint' } },
  ])
  expect(errors[0].observation.message).toContain('noise, zeros')
  const found = await checkpointsOf(app, id)
  expect(found.map(({ left_out }) => left_out === null)).toEqual([true, true, false, false, false])
  const workspace = await removeFiles(app, id)
  expect(existsSync(workspace)).toBe(true)
  await resume(app, id, 'look again')
  await awaitEnd(app, id)
  expect((await allLogs(app, id)).findLast(entry => entry.tool_name === 'shell').tool_output.output).toBe(
    '2000000\n',
  )
})

test('unreadable files are reported as unreadable, and so are files that never stop changing', async () => {
  const touch = calls(shell('touch step'))
  await using app = await startCodingApp(
    responses(
      calls(shell('echo closed >closed.txt; chmod 000 closed.txt')),
      calls(shell('(while :; do head -c 20M /dev/urandom >churn; done) & sleep 1')),
      ...[
        touch,
        touch,
        touch,
        touch,
        calls(shell('kill $!; wait; rm churn; chmod 600 closed.txt')),
        { text: 'Done.' },
      ],
    ),
  )
  const { id } = await createRun(app, { prompt: 'make trouble', auto_create_pr: false })
  expect((await awaitEnd(app, id)).status).toBe('completed')
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors.map(({ observation }) => observation.code)).toEqual([
    'checkpoint_unreadable',
    'checkpoint_failed',
  ])
  expect(errors[0].observation.message).toContain('closed.txt')
})

test('a checkpoint beyond the limit of a pack or a run is not stored, and later ones within it are', async () => {
  const noise = (n: number) => shell(`head -c 150000 /dev/urandom > noise${n}`)
  await using app = await startCodingApp(
    responses(calls(noise(1)), calls(shell('rm noise*; echo small > small')), { text: 'Done.' }),
    {
      AGENTRUN_CHECKPOINT_PACK_MAX_BYTES: '100000',
    },
  )
  const { id } = await createRun(app, { prompt: 'make noise', repo_id: null, repoless: true })
  await awaitEnd(app, id)
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors.length).toBeLessThan(2)
  const found = await checkpointsOf(app, id)
  expect(found.at(-1)).toMatchObject({ through_seq: TO_THE_END, left_out: null })
})
