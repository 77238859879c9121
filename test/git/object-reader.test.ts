import { chmod, chown, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { withObjectReader } from '../../src/git/objects/object-reader.ts'
import { mirrorPath } from '../../src/git/process/git-host.ts'
import { isAlive } from '../../src/system/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import {
  commitFiles,
  localRepository,
  makeRepository,
  openGitFixture,
  root,
  runText,
  SERVICE,
} from './repositories.ts'

/** A mirror of a commit with a small file and a large one, and a git that notes the id of each process. */
async function ready() {
  const folder = temporaryFolder()
  const [log, program] = [join(folder.path, 'log'), join(folder.path, 'git')]
  await writeFile(log, '')
  await writeFile(
    program,
    `#!/bin/sh\necho "$$" >>${log}\nexec /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin git "$@"\n`,
  )
  for (const path of [folder.path, program]) await chmod(path, 0o755)
  if (root) await chown(log, SERVICE.uid, SERVICE.gid)
  const fixture = await openGitFixture({ path: `${folder.path}:/usr/local/bin:/usr/bin:/bin` })
  const source = await makeRepository(join(fixture.dir, 'source'))
  const large = Array.from({ length: 200_000 }, Math.random).join()
  const head = await commitFiles(source, 'files', { small: 'small\n', large })
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  await writeFile(log, '')
  const nameOf = (path: string) => runText(source, 'git', ['rev-parse', `${head}:${path}`])
  return {
    host: fixture.host,
    call: { git_dir: mirrorPath(fixture.host, repo.id) },
    head,
    large,
    names: { small: await nameOf('small'), large: await nameOf('large') },
    started: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean).map(Number),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

const MISSING = 'f'.repeat(40)

test('one process serves all requests, and ends with the work', async () => {
  await using set = await ready()
  const { small, large } = set.names
  const read: [string, string, number][] = []
  const described: unknown[] = []
  await withObjectReader(set.host, set.call, async reader => {
    await reader.describe([small, MISSING, large], object => described.push(object))
    await reader.read([`${set.head}^{tree}`, MISSING], async (sha, type, bytes) => {
      read.push([type === 'tree' ? 'tree' : sha, type, bytes.length])
      // A name that was requested before is not read again.
      return type === 'tree' ? [large, small, large, MISSING] : []
    })
    await reader.read([], async () => [])
    await reader.read([large], async (_sha, _type, bytes) => {
      expect(bytes.toString()).toBe(set.large)
      return []
    })
  })
  expect(described).toEqual([
    { name: small, type: 'blob', bytes: 6 },
    { name: MISSING, type: 'missing', bytes: 0 },
    { name: large, type: 'blob', bytes: set.large.length },
  ])
  expect(read).toEqual([
    ['tree', 'tree', expect.any(Number)],
    [MISSING, 'missing', 0],
    [large, 'blob', set.large.length],
    [small, 'blob', 6],
  ])
  const started = await set.started()
  expect(started).toHaveLength(1)
  expect(started.filter(isAlive)).toEqual([])
})

test('without a request there is no process', async () => {
  await using set = await ready()
  await withObjectReader(set.host, set.call, reader => reader.read([], async () => []))
  expect(await set.started()).toEqual([])
})

test('a process that is killed ends the work with an error, and the next reader has one of its own', async () => {
  await using set = await ready()
  const { small, large } = set.names
  const work = withObjectReader(set.host, set.call, async reader => {
    await reader.describe([small], () => {})
    const [pid = 0] = await set.started()
    process.kill(pid, 'SIGKILL')
    await reader.read([large], async () => [])
  })
  await expect(work).rejects.toMatchObject({ name: 'GitError', code: 'killed' })
  const types: string[] = []
  await withObjectReader(set.host, set.call, reader =>
    reader.describe([small], ({ type }) => void types.push(type)),
  )
  expect(types).toEqual(['blob'])
})

test('an error of the work ends the process, and is the error of the call', async () => {
  await using set = await ready()
  const refusal = new Error('enough')
  const work = withObjectReader(set.host, set.call, reader =>
    reader.read([set.names.large, set.names.small], async () => {
      throw refusal
    }),
  )
  await expect(work).rejects.toBe(refusal)
  expect((await set.started()).filter(isAlive)).toEqual([])
})
