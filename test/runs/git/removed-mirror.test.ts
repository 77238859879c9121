import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withMirrorLock } from '../../../src/git/mirrors/mirror-lock.ts'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { sweepMirrors } from '../../../src/worker/sweep/sweep-mirrors.ts'
import { rows } from '../../start-app.ts'
import { awaitEnd, createRun } from '../await-run.ts'
import { startCodingApp } from '../coding-app.ts'

test('the mirror of a deleted repository is removed later, and no other mirror is', async () => {
  await using app = await startCodingApp(() => ({ text: 'done' }), { AGENTRUN_SAMPLE: '1' })
  const repos = `/v1/organizations/${app.org_id}/repos`
  const { body } = await app.call('GET', repos)
  const ids: number[] = body.items.map((item: { id: number }) => item.id)
  for (const repo_id of ids) await awaitEnd(app, (await createRun(app, { prompt: 'x', repo_id })).id)
  const { service, sandbox } = ensureSystemUsers()
  await using git = await openGitHost({
    data_dir: app.data_dir,
    user: service,
    allow_private: false,
    ...(sandbox && { reader_gid: sandbox.gid }),
  })
  const mirrors = () => readdirSync(join(app.data_dir, 'mirrors')).filter(name => !name.endsWith('.lock'))
  const both = ids.map(id => `${id}.git`)
  expect(mirrors().sort()).toEqual(both)

  await app.call('DELETE', `${repos}/${ids[0]}`)
  await sweepMirrors({ db: app.db, git })
  expect(mirrors().sort()).toEqual(both)
  await rows(
    app,
    `update repositories
      set removed_at = now() - interval '2 hours'
      where removed_at is not null`,
  )
  await sweepMirrors({ db: app.db, git })
  expect(mirrors()).toEqual([`${ids[1]}.git`])
  // Nothing is left locked or partly removed.
  expect(readdirSync(join(app.data_dir, 'mirrors')).filter(name => name.startsWith(`${ids[0]}.`))).toEqual([])
  await withMirrorLock(git, ids[1] ?? 0, 1_000, async () => {})
})
