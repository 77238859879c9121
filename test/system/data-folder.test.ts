import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareDataFolder } from '../../src/system/data-folder.ts'
import { createOwnFolder } from '../../src/system/own-folder.ts'
import { ensureSystemUsers, type SystemUser } from '../../src/system/users.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const users = ensureSystemUsers()
const ourselves = process.getuid?.() ?? -1

/** The result of `test -r`, `-w` or `-x` as that user (null: as ourselves). */
function may(user: SystemUser | null, access: 'r' | 'w' | 'x', path: string): boolean {
  return spawnSync('test', [`-${access}`, path], user ? { uid: user.uid, gid: user.gid } : {}).status === 0
}

function owner(path: string): number {
  return lstatSync(path).uid
}

function mode(path: string): string {
  return (lstatSync(path).mode & 0o777).toString(8)
}

test('the parts of the data folder have the owners and modes that keep database, mirrors and workspaces apart', () => {
  using clone = temporaryFolder()
  const umask = process.umask(0o077)
  const data = prepareDataFolder({ path: null, clone_dir: clone.path, users })
  process.umask(umask)
  expect(data.root).toBe(join(clone.path, 'data'))
  expect([data.postgres, data.mirrors, data.bundles, data.workspaces, data.logs].map(mode)).toEqual([
    users.service ? '711' : '700',
    '750',
    '700',
    '711',
    '700',
  ])
  // What others than root may write is below folders of root, where they cannot replace anything by a link.
  expect([data.root, data.postgres, data.bundles, data.workspaces].map(owner)).toEqual(
    Array(4).fill(ourselves),
  )
  expect(owner(data.mirrors)).toBe(users.service?.uid ?? ourselves)
  expect(prepareDataFolder({ path: null, clone_dir: clone.path, users })).toEqual(data)
})

test('the sandbox user reads mirrors and enters workspaces, and has no way to database, bundles and the list of workspaces', () => {
  using clone = temporaryFolder()
  const data = prepareDataFolder({ path: null, clone_dir: clone.path, users })
  const { sandbox, service } = users
  // Unprivileged, everything runs as ourselves and only the sandbox itself separates.
  const alone = sandbox === null
  expect([
    may(sandbox, 'r', data.mirrors),
    may(sandbox, 'x', data.mirrors),
    may(sandbox, 'x', data.workspaces),
  ]).toEqual([true, true, true])
  expect([
    may(sandbox, 'w', data.mirrors),
    may(sandbox, 'r', data.postgres),
    may(sandbox, 'x', data.bundles),
    may(sandbox, 'r', data.workspaces),
  ]).toEqual(Array(4).fill(alone))
  expect([data.root, data.postgres, data.mirrors, data.bundles].map(path => may(service, 'w', path))).toEqual(
    [alone, alone, true, alone],
  )
})

test('as root, a clone that the service user cannot enter has its data outside, and finds it again when the clone opens up', () => {
  using clone = temporaryFolder()
  chmodSync(clone.path, 0o700)
  const data = prepareDataFolder({ path: null, clone_dir: clone.path, users })
  try {
    expect(data.root).toMatch(users.service ? /^\/var\/lib\/agentrun-[0-9a-f]{12}$/ : /\/data$/)
    expect(may(users.service, 'w', data.mirrors)).toBe(true)
    chmodSync(clone.path, 0o711)
    expect(prepareDataFolder({ path: null, clone_dir: clone.path, users })).toEqual(data)
  } finally {
    rmSync(data.root, { recursive: true, force: true })
  }
})

test('data that its user can no longer reach is an error, never a silent new start', () => {
  using clone = temporaryFolder()
  const data = prepareDataFolder({ path: null, clone_dir: clone.path, users })
  chmodSync(clone.path, 0o700)
  const again = () => prepareDataFolder({ path: null, clone_dir: clone.path, users })
  if (users.service)
    expect(again).toThrow(`cannot reach data folder ${data.root}: run chmod o+x ${clone.path}`)
  else expect(again()).toEqual(data)
})

test('a folder full of something else is refused and keeps its mode', () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'thesis.txt'), 'important')
  expect(() => prepareDataFolder({ path: folder.path, clone_dir: folder.path, users })).toThrow(
    'set AGENTRUN_DATA_DIR to an empty or new folder',
  )
  expect(mode(folder.path)).toBe('711')
  expect(readFileSync(join(folder.path, 'thesis.txt'), 'utf8')).toBe('important')
})

test('data of another user is refused with the one way out', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'data')
  prepareDataFolder({ path, clone_dir: folder.path, users })
  const somebody = { ...users, service: { name: 'somebody', uid: 4_242, gid: 4_242 } }
  expect(() => prepareDataFolder({ path, clone_dir: folder.path, users: somebody })).toThrow(
    `belongs to the user with id ${users.service?.uid ?? ourselves}: start as that user, or set AGENTRUN_DATA_DIR`,
  )
})

test('a path that cannot be a folder is one line with its reason', () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'file'), '')
  expect(() =>
    prepareDataFolder({ path: join(folder.path, 'file/data'), clone_dir: folder.path, users }),
  ).toThrow(/^cannot use .* \((EEXIST|ENOTDIR)\): set AGENTRUN_DATA_DIR/)
})

test('missing parents of a private folder stay passable, and a link instead of one exposes nothing', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'a/b/private')
  createOwnFolder(path, 0o700, null)
  expect([join(folder.path, 'a'), join(folder.path, 'a/b'), path].map(mode)).toEqual(['755', '755', '700'])
  mkdirSync(join(folder.path, 'treasure'), { mode: 0o755 })
  symlinkSync('treasure', join(folder.path, 'link'))
  expect(() => createOwnFolder(join(folder.path, 'link'), 0o777, users.sandbox)).toThrow()
  expect(owner(join(folder.path, 'treasure'))).toBe(ourselves)
})
