import { expect, test } from 'vitest'
import { openGitHost } from '../../../src/git/process/git-host.ts'
import { Templates } from '../../../src/worker/base/templates.ts'
import { limits, makeDriver, sandbox_user } from '../../sandbox/start-sandbox.ts'

test('a failed test of layers is repeated, and disabled layers are not tested', async () => {
  await using made = makeDriver()
  await using git = await openGitHost({ data_dir: made.folder, user: null, allow_private: true })
  let tried = 0
  const selfTest = async () =>
    ++tried === 1 ? { ok: false as const, reason: 'no time' } : { ok: true as const }
  const open = () => Promise.reject(new Error('nobody asks'))
  const folders = { root: made.folder, workspaces: made.folder, user: sandbox_user }
  const deps = {
    driver: { ...made.driver, layers: { selfTest, open } },
    git,
    folders,
    sandbox_limits: limits,
    clone_ms: 1_000,
    log: () => {},
  }
  await using templates = new Templates({ ...deps, max_bytes: 1 })
  await templates.test()
  expect(templates.problem).toBe('no time')
  await templates.retest()
  await templates.retest()
  expect([templates.problem, tried]).toEqual([null, 2])
  await using off = new Templates({ ...deps, max_bytes: 0 })
  await off.test()
  await off.retest()
  expect([off.problem, tried]).toEqual([expect.stringContaining('AGENTRUN_TEMPLATE_BYTES'), 2])
})
