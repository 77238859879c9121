import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import {
  extendCheckpoint,
  reopenCheckpoints,
  saveCheckpoints,
  TO_THE_END,
} from '../../../src/store/workspaces/checkpoints.ts'
import { recordCheckout, recordWorkspace } from '../../../src/store/workspaces/workspaces.ts'
import { ownFolderId } from '../../../src/system/data-folder-id.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { sweepFolders, sweepWorkspaces } from '../../../src/worker/sweep/sweep-files.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

const users = ensureSystemUsers()
const workspaces = (app: App) => join(app.data_dir, 'workspaces')

test('I8: folders of dead owners and of deleted runs are removed, those in use are kept, and what was kept of runs is recreated on demand', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('echo one > one.txt')), { text: 'First.' }, calls(shell('cat one.txt')), {
      text: 'Second.',
    }),
  )
  await app.call('PUT', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/setup-commands`, {
    commands: ['echo home >~/file'],
  })
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  const [run] = await rows<{ workspace: string; epoch: number }>(
    app,
    'select workspace, epoch from runs where id = $1',
    [id],
  )
  const dead = [
    `${id}-0`,
    `${id}-0.shadow`,
    `${id}-0.home`,
    `${id}-0.home.${'a'.repeat(16)}`,
    `${id}-0.on.7-${'a'.repeat(40)}`,
    `${id}-${(run?.epoch ?? 0) + 1}`,
    '424242-1',
  ]
  for (const name of dead) {
    mkdirSync(join(workspaces(app), name))
    if (users.sandbox) chownSync(join(workspaces(app), name), users.sandbox.uid, users.sandbox.gid)
    execFileSync(
      '/bin/mkdir',
      [join(workspaces(app), name, 'inside')],
      users.sandbox ? { uid: users.sandbox.uid, gid: users.sandbox.gid } : {},
    )
  }
  mkdirSync(join(workspaces(app), 'not-of-a-run'))
  await using git = await openGitHost({ data_dir: app.data_dir, user: users.service, allow_private: true })
  const deps = {
    db: app.db,
    git,
    folder_id: ownFolderId(app.data_dir),
    users,
    folders: { workspaces: workspaces(app), bundles: '' },
    log: () => {},
  }
  expect(readdirSync(git.checkpoints)).toEqual([`${id}.git`])
  await sweepFolders(deps)
  const name = run?.workspace.split('/').at(-1) ?? ''
  const [owner = ''] = name.split('.')
  const left = [
    `${owner}.home`,
    expect.stringMatching(`^${owner}\\.home\\.[0-9a-f]{16}$`),
    name,
    'not-of-a-run',
  ]
  expect(readdirSync(workspaces(app)).sort()).toEqual(left)
  expect(readdirSync(git.checkpoints)).toEqual([])

  await rows(app, `update runs set finished_at = now() - interval '31 seconds' where id = $1`, [id])
  await sweepWorkspaces(deps)
  expect(readdirSync(workspaces(app))).toEqual(['not-of-a-run'])
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'y',
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Second.' })
  // The row about a folder of that path belongs to another data folder.
  await rows(app, "update runs set workspace_host = 'another-folder' where id = $1", [id])
  await sweepFolders(deps)
  expect(readdirSync(workspaces(app))).toEqual(['not-of-a-run'])
  expect((await allLogs(app, id)).findLast(entry => entry.tool_name === 'shell').tool_output.output).toBe(
    'one\n',
  )
})

test('a fenced worker stores nothing: its checkpoints and its end of the turn change no row', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, 'running')
  const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  const location = (epoch: number) => ({ organization_id: app.org_id, run_id: id, epoch })
  const now = run?.epoch ?? 0
  const checkpoint = { seq: 0, through_seq: 1, tree: 't', head: null, branch: null, left_out: null }
  const pack = { tip: 'p', base_sha: null, content: Buffer.from('pack') }
  expect(
    await saveCheckpoints(app.db, location(now), {
      base_sha: null,
      checkpoints: [checkpoint],
      pack,
      max_bytes: 100,
    }),
  ).toEqual({
    packs: 1,
  })
  expect(
    await saveCheckpoints(app.db, location(now), {
      base_sha: null,
      checkpoints: [{ ...checkpoint, seq: 1 }],
      pack,
      max_bytes: 7,
    }),
  ).toEqual({ packs: null })
  const before = await rows(app, 'select c.*, p.n from checkpoints c, checkpoint_packs p')
  expect(
    await saveCheckpoints(app.db, location(now - 1), {
      base_sha: null,
      checkpoints: [{ ...checkpoint, seq: 1 }],
      pack,
      max_bytes: 100,
    }),
  ).toBe(undefined)
  expect(await extendCheckpoint(app.db, location(now - 1), 0, TO_THE_END)).toBe(false)

  expect(await extendCheckpoint(app.db, location(now), 0, TO_THE_END)).toBe(true)
  await reopenCheckpoints(app.db, app.org_id, id, now - 1)
  expect(await rows(app, 'select through_seq from checkpoints')).toEqual([{ through_seq: TO_THE_END }])
  await reopenCheckpoints(app.db, app.org_id, id, now)
  expect(await rows(app, 'select through_seq from checkpoints')).toEqual([{ through_seq: 1 }])

  await putRun(app, id, 'paused')
  expect(await extendCheckpoint(app.db, location(now), 0, TO_THE_END)).toBe(false)
  expect(await rows(app, 'select c.*, p.n from checkpoints c, checkpoint_packs p')).toEqual(before)
})

test('a worker records folders and base of its run only until its lease ends, although no other worker has claimed the run yet', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, 'running')
  const stored = () =>
    rows<{ epoch: number }>(
      app,
      'select epoch, workspace, sandbox, base_sha, branch from runs where id = $1',
      [id],
    )
  const epoch = (await stored())[0]?.epoch ?? 0
  const recordBoth = async (name: string) => [
    await recordWorkspace(app.db, app.org_id, id, epoch, {
      workspace: `/${name}`,
      folder_id: 'f',
      sandbox: name,
    }),
    await recordCheckout(app.db, app.org_id, id, epoch, { base_ref: name, base_sha: name, branch: name }),
  ]
  expect(await recordBoth('first')).toEqual([true, true])
  const before = await stored()
  expect(before).toEqual([
    { epoch, workspace: '/first', sandbox: 'first', base_sha: 'first', branch: 'first' },
  ])
  await putRun(app, id, 'paused')
  expect(await recordBoth('late')).toEqual([false, false])
  expect(await stored()).toEqual(before)
})
