import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { countCachedPacks } from '../../../src/git/objects/object-cache.ts'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import { saveCheckpoints } from '../../../src/store/workspaces/checkpoints.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { loadTip } from '../../../src/worker/base/kept-objects.ts'
import { putRun } from '../../api/runs/put-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { createRun } from '../await-run.ts'

test('a remote that never responds does not block the restore of kept objects: not beyond a stop, and not beyond the time-out', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const silent = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  const [repository] = await rows<{ id: number }>(
    app,
    `insert into repositories (organization_id, name, full_name, url, kind)
      values ($1, 'silent', 'x/silent', $2, 'http')
      returning id`,
    [app.org_id, `http://127.0.0.1:${port}/silent.git`],
  )
  const { id } = await createRun(app, { prompt: 'x', repo_id: app.repo_id })
  await putRun(app, id, 'running')
  const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  const owner = { organization_id: app.org_id, run_id: id, epoch: run?.epoch ?? 0 }
  const row = { seq: 0, through_seq: 1, tree: '2'.repeat(40), head: null, branch: null, left_out: null }
  const pack = { tip: '3'.repeat(40), base_sha: '1'.repeat(40), content: Buffer.from('pack') }
  expect(
    await saveCheckpoints(app.db, owner, {
      base_sha: pack.base_sha,
      checkpoints: [row],
      pack,
      max_bytes: 1_000,
    }),
  ).toEqual({
    packs: 1,
  })

  const text: string[] = []
  await using git = await openGitHost({
    data_dir: app.data_dir,
    user: ensureSystemUsers().service,
    allow_private: true,
  })
  const deps = { db: app.db, git, log: (_level: string, message: string) => void text.push(message) }
  const kept = { run_id: id, repository_id: repository?.id ?? null }
  const stop = new AbortController()
  const stopped = expect(
    loadTip(deps, app.org_id, kept, { max_bytes: 1_000, fetch_ms: 600_000, signal: stop.signal }),
  ).rejects.toThrow('stopped')
  await once(silent, 'connection')
  stop.abort(new Error('stopped'))
  await stopped
  expect(text).toEqual([])

  expect(await loadTip(deps, app.org_id, kept, { max_bytes: 1_000, fetch_ms: 300 })).toBeNull()
  expect(text).toEqual(['the checkpoints of a run cannot be loaded'])
  expect(await countCachedPacks(git, id)).toBe(0)
  silent.close()
}, 30_000)
