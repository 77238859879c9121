import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ownFolderId } from '../../../src/system/data-folder-id.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { sweepLeftovers } from '../../../src/worker/sweep/remove-leftovers.ts'
import { rows } from '../../start-app.ts'
import { awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

test('the files of a deleted run are removed by the sweep, and its pushed branch is kept', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('echo x > x.txt; mkdir -m 0 closed')), { text: 'Done.' }),
  )
  const { id } = await createRun(app, { prompt: 'write' })
  const run = await awaitEnd(app, id)
  const [row] = await rows<{ workspace: string }>(app, 'select workspace from runs where id = $1', [id])
  const workspace = row?.workspace ?? ''
  expect(existsSync(workspace)).toBe(true)
  expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${id}`)).status).toBe(200)
  expect(existsSync(workspace)).toBe(true)

  const elsewhere = { db: app.db, folder_id: 'another-folder', users: ensureSystemUsers() }
  await sweepLeftovers(elsewhere)
  expect(existsSync(workspace)).toBe(true)
  await sweepLeftovers({ ...elsewhere, folder_id: ownFolderId(app.data_dir) })
  expect(existsSync(workspace)).toBe(false)
  expect(await rows(app, 'select 1 from leftover_workspaces')).toEqual([])
  expect(app.git('show', `${run.branch}:x.txt`)).toBe('x\n')
})
