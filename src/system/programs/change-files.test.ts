import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { ensureSystemUsers } from '../users.ts'
import { changeFilesAs, refusedRemovals, runProgram } from './run-program.ts'

const { service } = ensureSystemUsers()
const userOf = (path: string) => [lstatSync(path).uid, lstatSync(path).mode & 0o777]
const through = (path: string) => `${path}.new`

test('folders, files and moves get the modes of their kind and belong to the user', async () => {
  using folder = temporaryFolder()
  const [a, b] = [join(folder.path, 'a'), join(folder.path, 'b')]
  if (service) chownSync(folder.path, service.uid, service.gid)
  await changeFilesAs(service, { kind: 'create', folders: [a, b, join(b, 'c')] })
  chmodSync(a, 0o700)
  await changeFilesAs(service, { kind: 'create', folders: [a] })
  for (const text of ['one', 'two'])
    await changeFilesAs(service, { kind: 'replace', path: join(a, 'x'), through: through(a), text })
  await changeFilesAs(service, { kind: 'move', from: a, to: b, names: ['x'] })
  const uid = service?.uid ?? process.getuid?.()
  expect([userOf(a), userOf(b), userOf(join(b, 'x'))]).toEqual([
    [uid, 0o700],
    [uid, 0o750],
    [uid, 0o640],
  ])
  expect([readFileSync(join(b, 'x'), 'utf8'), readdirSync(a), readdirSync(b)]).toEqual([
    'two',
    [],
    ['c', 'x'],
  ])
})

test('what is small is removed with its links and not their targets; of what is large nothing is', async () => {
  using folder = temporaryFolder()
  const [small, large, kept] = [
    join(folder.path, 'small'),
    join(folder.path, 'large'),
    join(folder.path, 'kept'),
  ]
  for (const path of [small, join(small, 'inner'), large, join(large, 'inner'), kept]) mkdirSync(path)
  writeFileSync(join(kept, 'file'), 'kept')
  writeFileSync(join(small, 'inner', 'file'), '')
  symlinkSync(kept, join(small, 'inner', 'link'))
  for (let n = 0; n < 200; n++) writeFileSync(join(large, 'inner', String(n)), '')
  const paths = [small, large, join(folder.path, 'missing')]
  if (service)
    for (const path of [folder.path, small, join(small, 'inner'), large, kept])
      chownSync(path, service.uid, service.gid)
  expect(await refusedRemovals(service, paths)).toEqual([large])
  expect([readdirSync(folder.path), readdirSync(kept), readdirSync(join(large, 'inner')).length]).toEqual([
    ['kept', 'large'],
    ['file'],
    200,
  ])
})

test('a change that fails rejects with its reason', async () => {
  using folder = temporaryFolder()
  await expect(
    changeFilesAs(service, { kind: 'move', from: folder.path, to: '/', names: ['missing'] }),
  ).rejects.toThrow('ENOENT')
})

test.runIf(service)(
  "what root owns stays as it is, also behind the user's own links, and the helper is root again",
  async () => {
    using folder = temporaryFolder()
    const [of_root, own] = [join(folder.path, 'of-root'), join(folder.path, 'own')]
    for (const path of [of_root, own]) mkdirSync(path, { mode: 0o755 })
    writeFileSync(join(of_root, 'file'), 'kept')
    symlinkSync(of_root, join(own, 'link'))
    if (service) chownSync(own, service.uid, service.gid)
    for (const path of [join(of_root, 'file'), join(own, 'link', 'file')])
      await expect(
        changeFilesAs(service, { kind: 'replace', path, through: through(path), text: 'x' }),
      ).rejects.toThrow('EACCES')
    await expect(
      changeFilesAs(service, { kind: 'move', from: join(own, 'link'), to: own, names: ['file'] }),
    ).rejects.toThrow('EACCES')
    expect(readdirSync(of_root)).toEqual(['file'])
    const id = runProgram({ program: 'id', args: ['-urn'], cwd: '/', env: {}, max_output_bytes: 100 })
    expect((await id.done).stdout.toString()).toBe('root\n')
  },
)
