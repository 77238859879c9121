import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { adoptWorkspace, createWorkspace, removeWorkspace } from '../../src/sandbox/workspaces/workspaces.ts'
import { makeDriver, sandbox_user, startSandbox } from './start-sandbox.ts'

const created = makeDriver()
const root = join(created.folder, 'workspaces')
afterAll(() => created[Symbol.asyncDispose]())

it('creates an empty folder of the sandbox user that no other user can enter, and never reuses an existing one', async () => {
  const path = await createWorkspace(root, 7, 1, sandbox_user)
  expect(path).toBe(join(root, '7-1'))
  const { mode, uid } = statSync(path)
  expect([mode & 0o7777, uid]).toEqual([0o700, sandbox_user?.uid ?? process.getuid?.()])
  await expect(createWorkspace(root, 7, 1, sandbox_user)).rejects.toThrow('EEXIST')
})

it('gives a workspace to a later epoch with all that is in it, and never over another one', async () => {
  const old = await createWorkspace(root, 8, 1, sandbox_user)
  writeFileSync(join(old, 'file'), 'kept')
  adoptWorkspace(old, join(root, '8-2'))
  expect(readFileSync(join(root, '8-2', 'file'), 'utf8')).toBe('kept')
  expect(existsSync(old)).toBe(false)
  const empty = await createWorkspace(root, 8, 3, sandbox_user)
  expect(() => adoptWorkspace(join(root, '8-2'), empty)).toThrow('already')
})

it('B48: removes a hostile tree: deep nesting, strange names, closed and read-only folders', async () => {
  const path = await createWorkspace(root, 9, 1, sandbox_user)
  const box = await startSandbox(created.driver, path)
  const created_inside = await box.shell(String.raw`set -e
perl -e 'for (1 .. 1200) { mkdir "a-rather-long-name"; chdir "a-rather-long-name" or die }'
mkdir -- --no-preserve-root -rf $'new\nline' $'\xff\xfe' $'\x1b[2J' '$(reboot)' "it's"
touch -- -i $'\xff\xfe/\xff' $'new\nline/;rm -rf x'
mkfifo pipe; ln -s / root; ln -s /workspace self; touch set-user-id; chmod 4755 set-user-id
mkdir -p closed/inner read-only/inner; touch closed/inner/file read-only/inner/file
chmod 000 closed/inner closed; chmod 555 read-only/inner read-only`)
  expect(created_inside).toMatchObject({ exit_code: 0, text: '' })
  await box.sandbox.stop()
  await removeWorkspace(path, sandbox_user)
  expect(existsSync(path)).toBe(false)
})

it('A13: follows no link out of the workspace', async () => {
  const path = await createWorkspace(root, 10, 1, sandbox_user)
  const outside = join(created.folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'file'), 'precious')
  chmodSync(outside, 0o500)
  if (sandbox_user)
    for (const owned of [outside, join(outside, 'file')]) chownSync(owned, sandbox_user.uid, sandbox_user.gid)
  symlinkSync(outside, join(path, 'link'))
  mkdirSync(join(path, 'closed'))
  chmodSync(join(path, 'closed'), 0)
  await removeWorkspace(path, sandbox_user)
  expect(existsSync(path)).toBe(false)
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('precious')
  expect(statSync(outside).mode & 0o777).toBe(0o500)
  chmodSync(outside, 0o700)
})

it('removes a link instead of a workspace without touching its target, and accepts a missing one', async () => {
  const target = await createWorkspace(root, 11, 1, sandbox_user)
  writeFileSync(join(target, 'file'), 'precious')
  const link = join(root, '11-2')
  symlinkSync(target, link)
  await removeWorkspace(link, sandbox_user)
  expect([existsSync(link), readFileSync(join(target, 'file'), 'utf8')]).toEqual([false, 'precious'])
  await removeWorkspace(link, sandbox_user)
})
