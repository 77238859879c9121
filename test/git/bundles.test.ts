import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { GitRepository } from '../../src/git/git-repository.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { mirrorPath } from '../../src/git/process/git-host.ts'
import { importBundle, keepPushed } from '../../src/git/publish/bundles.ts'
import { hasCommit } from '../../src/git/read/revisions.ts'
import {
  commitFiles,
  type GitFixture,
  localRepository,
  makeRepository,
  openGitFixture,
  run,
  runText,
} from './repositories.ts'

type Ready = AsyncDisposable & {
  fixture: GitFixture
  repo: GitRepository
  mirror: string
  work: string
  base: string
}

/** A mirror, and an ordinary clone `work` of the same repository in which bundles are created. */
async function ready(): Promise<Ready> {
  const fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const work = join(fixture.dir, 'work')
  await run('/', 'git', ['clone', '-q', source, work])
  const base = await runText(work, 'git', ['rev-parse', 'HEAD'])
  return {
    fixture,
    repo,
    mirror: mirrorPath(fixture.host, repo.id),
    work,
    base,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

async function makeBundle(set: Ready, head: string, args: string[] = [`^${set.base}`]): Promise<string> {
  const file = join(set.fixture.dir, `${head}.bundle`)
  await run(set.work, 'git', ['update-ref', 'refs/agentrun/out', head])
  await run(set.work, 'git', ['bundle', 'create', '-q', file, 'refs/agentrun/out', ...args])
  return file
}

/** Everything that an import could leave behind in the mirror, in the objects of the run, and beside both. */
async function contents(set: Ready): Promise<string[]> {
  const { mirrors, checkpoints } = set.fixture.host
  const found = await Promise.all([mirrors, checkpoints].map(folder => readdir(folder, { recursive: true })))
  const objects = found
    .flat()
    .filter(name => /incoming|(objects|pack)\/.+[^k]$/.test(name) && !/\/(info|pack)$/.test(name))
  return [...objects, await runText(set.mirror, 'git', ['for-each-ref'])].sort()
}

const ofRun = (set: Ready, run_id = 4) => ({ repository_id: set.repo.id, run_id })
const take = (set: Ready, file: string, head_sha: string, max_bytes?: number) =>
  importBundle(set.fixture.host, ofRun(set), file, {
    head_sha,
    base_sha: set.base,
    ...(max_bytes ? { max_bytes } : {}),
  })

test('a sound bundle is seen by its own run alone until it was pushed, and in the mirror under the name of run and turn then', async () => {
  await using set = await ready()
  const before = await readdir(set.mirror, { recursive: true })
  const head = await commitFiles(set.work, 'work', { 'a/b.txt': 'b' })
  await take(set, await makeBundle(set, head), head)
  const { host } = set.fixture
  const seen = () =>
    Promise.all([ofRun(set), ofRun(set, 5), set.repo.id].map(objects => hasCommit(host, objects, head)))
  expect(await seen()).toEqual([true, false, false])
  expect(await readdir(set.mirror, { recursive: true })).toEqual(before)

  await keepPushed(host, ofRun(set), { turn: 2, head_sha: head, base_sha: set.base, branch: null })
  expect((await seen())[2]).toBe(true)
  expect(await runText(set.mirror, 'git', ['rev-parse', 'refs/agentrun/4/2'])).toBe(head)
  await run(set.mirror, 'git', ['fsck', '--strict', '--no-dangling'])
  const left = await Promise.all([host.mirrors, host.checkpoints].map(folder => readdir(folder)))
  expect(left.flat().filter(name => name.startsWith('incoming'))).toEqual([])
})

test('only the pushed commit of a run and its ancestors enter the mirror', async () => {
  await using set = await ready()
  const refused = await commitFiles(set.work, 'refused', { 'key.txt': 'a secret' })
  await take(set, await makeBundle(set, refused), refused)
  await run(set.work, 'git', ['reset', '-q', '--hard', set.base])
  const first = await commitFiles(set.work, 'first', { 'a.txt': 'a' })
  const head = await commitFiles(set.work, 'second', { 'b.txt': 'b' })
  await take(set, await makeBundle(set, head), head)
  await keepPushed(set.fixture.host, ofRun(set), {
    turn: 2,
    head_sha: head,
    base_sha: set.base,
    branch: null,
  })
  const all = await runText(set.mirror, 'git', [
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(objectname)',
  ])
  const blob = await runText(set.work, 'git', ['rev-parse', `${refused}:key.txt`])
  expect([first, head, refused, blob].map(sha => all.includes(sha))).toEqual([true, true, false, false])
})

test('the remains of a killed import are removed by the next one, an active import is kept', async () => {
  await using set = await ready()
  const { checkpoints } = set.fixture.host
  const [old, young] = ['incoming-old', 'incoming-young'].map(name => join(checkpoints, name))
  for (const folder of [old, young]) await mkdir(join(folder ?? '', 'pack'), { recursive: true })
  for (const folder of [old, young]) await run('/', 'chown', ['-R', '--reference', set.mirror, folder ?? ''])
  await utimes(old ?? '', new Date(), new Date(Date.now() - 3 * 3_600_000))
  const head = await commitFiles(set.work, 'work', { a: 'a' })
  await take(set, await makeBundle(set, head), head)
  expect((await readdir(checkpoints)).filter(name => name.startsWith('incoming'))).toEqual(['incoming-young'])
})

test('the same bundle can be imported twice, and a later one builds on it', async () => {
  await using set = await ready()
  const first = await commitFiles(set.work, 'one', { a: 'a' })
  const file = await makeBundle(set, first)
  await take(set, file, first)
  await take(set, file, first)
  const second = await commitFiles(set.work, 'two', { b: 'b' })
  await take(set, await makeBundle(set, second, [`^${first}`]), second)
  expect(await hasCommit(set.fixture.host, ofRun(set), second)).toBe(true)
})

test('an empty bundle is accepted only for a commit that the mirror has', async () => {
  await using set = await ready()
  const file = join(set.fixture.dir, 'empty')
  await writeFile(file, '')
  await take(set, file, set.base)
  await expect(take(set, file, 'f'.repeat(40))).rejects.toMatchObject({ code: 'corrupt' })
  const tree = await runText(set.mirror, 'git', ['rev-parse', `${set.base}^{tree}`])
  await expect(take(set, file, tree)).rejects.toMatchObject({ code: 'corrupt' })
})

/** Adds an object that git itself would not write. */
async function literal(set: Ready, type: string, body: Buffer | string): Promise<string> {
  return await runText(set.work, 'git', ['hash-object', '-t', type, '-w', '--stdin', '--literally'], {
    input: body,
  })
}

function tree(...entries: [mode: string, name: string, sha: string][]): Buffer {
  return Buffer.concat(
    entries.map(([mode, name, sha]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')]),
    ),
  )
}

const evil: [
  what: string,
  sign: string,
  make: (set: Ready, blob: string, subtree: string) => Promise<string>,
][] = [
  [
    '.git as a folder',
    'hasDotgit',
    async (set, _, subtree) => await literal(set, 'tree', tree(['40000', '.git', subtree])),
  ],
  [
    '.GIT in other letters',
    'hasDotgit',
    async (set, _, subtree) => await literal(set, 'tree', tree(['40000', '.GiT', subtree])),
  ],
  [
    '.git hidden by what HFS ignores',
    'hasDotgit',
    async (set, _, subtree) => await literal(set, 'tree', tree(['40000', '.g\u200cit', subtree])),
  ],
  [
    '.git by its short name on NTFS',
    'hasDotgit',
    async (set, _, subtree) => await literal(set, 'tree', tree(['40000', 'git~1', subtree])),
  ],
  [
    '.. as a name',
    'hasDotdot',
    async (set, _, subtree) => await literal(set, 'tree', tree(['40000', '..', subtree])),
  ],
  [
    'a slash in a name',
    'fullPathname',
    async (set, blob) => await literal(set, 'tree', tree(['100644', 'a/b', blob])),
  ],
  [
    'the same name twice',
    'duplicateEntries',
    async (set, blob) => await literal(set, 'tree', tree(['100644', 'a', blob], ['100644', 'a', blob])),
  ],
  [
    'names out of order',
    'treeNotSorted',
    async (set, blob) => await literal(set, 'tree', tree(['100644', 'b', blob], ['100644', 'a', blob])),
  ],
  [
    '.gitmodules as a link',
    'gitmodulesSymlink',
    async (set, blob) => await literal(set, 'tree', tree(['120000', '.gitmodules', blob])),
  ],
  [
    'a submodule whose address is an option',
    'gitmodulesUrl',
    async set => {
      const modules = await literal(
        set,
        'blob',
        '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=/bin/sh\n',
      )
      return await literal(set, 'tree', tree(['100644', '.gitmodules', modules]))
    },
  ],
  [
    'a submodule whose name leaves the folder',
    'gitmodulesName',
    async set => {
      const modules = await literal(
        set,
        'blob',
        '[submodule "../../x"]\n\tpath = x\n\turl = https://example.org/x\n',
      )
      return await literal(set, 'tree', tree(['100644', '.gitmodules', modules]))
    },
  ],
]

describe('a bundle is refused, and nothing of it is kept, when it contains', () => {
  test.each(evil)('%s (%s)', async (_, sign, make) => {
    await using set = await ready()
    const before = await contents(set)
    const blob = await literal(set, 'blob', 'x')
    const bad = await make(set, blob, await literal(set, 'tree', tree(['100644', 'config', blob])))
    const head = await literal(
      set,
      'commit',
      `tree ${bad}\nparent ${set.base}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nevil\n`,
    )
    await expect(take(set, await makeBundle(set, head), head)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(sign),
    })
    expect(await contents(set)).toEqual(before)
  })

  test('a commit that git would not write', async () => {
    await using set = await ready()
    const root = await runText(set.work, 'git', ['rev-parse', 'HEAD^{tree}'])
    const head = await literal(
      set,
      'commit',
      `tree ${root}\nparent ${set.base}\nauthor A <a@b> 1 +0000\ncommitter A\n\nevil\n`,
    )
    await expect(take(set, await makeBundle(set, head), head)).rejects.toMatchObject({ code: 'corrupt' })
  })

  test('a flipped bit, half a pack, or something else altogether', async () => {
    await using set = await ready()
    const before = await contents(set)
    const head = await commitFiles(set.work, 'work', { a: 'a'.repeat(5_000), b: 'b' })
    const bytes = await readFile(await makeBundle(set, head))
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8(flipped.readUInt8(bytes.length - 60) ^ 0x10, bytes.length - 60)
    const broken = join(set.fixture.dir, 'broken')
    for (const content of [
      flipped,
      bytes.subarray(0, bytes.length - 40),
      bytes.subarray(0, 30),
      Buffer.from('hello'),
      Buffer.alloc(2_000_000, 'x'),
      Buffer.from('# v2 git bundle\n\n'),
    ]) {
      await writeFile(broken, content)
      await expect(take(set, broken, head)).rejects.toMatchObject({ code: 'corrupt' })
    }
    expect(await contents(set)).toEqual(before)
  })

  test('another commit than the one it should', async () => {
    await using set = await ready()
    const head = await commitFiles(set.work, 'work', { a: 'a' })
    const file = await makeBundle(set, head)
    await expect(take(set, file, set.base)).rejects.toMatchObject({ code: 'corrupt' })
    await expect(take(set, file, 'f'.repeat(40))).rejects.toMatchObject({ code: 'corrupt' })
    await expect(take(set, file, 'main')).rejects.toMatchObject({ code: 'failed' })
  })

  test('commits that build on something the mirror has not', async () => {
    await using set = await ready()
    const before = await contents(set)
    const hidden = await commitFiles(set.work, 'hidden', { a: 'a' })
    const head = await commitFiles(set.work, 'head', { b: 'b' })
    await expect(take(set, await makeBundle(set, head, [`^${hidden}`]), head)).rejects.toMatchObject({
      code: 'corrupt',
    })
    expect(await contents(set)).toEqual(before)
  })

  test('more bytes than allowed', async () => {
    await using set = await ready()
    const head = await commitFiles(set.work, 'work', { a: Array.from({ length: 5_000 }, Math.random).join() })
    await expect(take(set, await makeBundle(set, head), head, 10_000)).rejects.toMatchObject({
      code: 'too_large',
    })
  })

  test('an object that unpacks to gigabytes', async () => {
    await using set = await ready()
    const before = await contents(set)
    const file = join(set.fixture.dir, 'bomb')
    await writeFile(file, bomb(set.base))
    await expect(take(set, file, set.base)).rejects.toMatchObject({ name: 'GitError' })
    expect(await contents(set)).toEqual(before)
  })
})

/** A bundle with one pack of one commit object that declares 8 GiB. */
function bomb(head: string): Buffer {
  const header = Buffer.alloc(12)
  header.write('PACK', 0)
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(1, 8)
  const size: number[] = []
  let rest = 8n * 1024n ** 3n
  size.push(Number((1n << 4n) | (rest & 15n)))
  for (rest >>= 4n; rest > 0n; rest >>= 7n) {
    size[size.length - 1] = (size.at(-1) ?? 0) | 128
    size.push(Number(rest & 127n))
  }
  const pack = Buffer.concat([header, Buffer.from(size), deflateSync(Buffer.alloc(1_000_000))])
  return Buffer.concat([
    Buffer.from(`# v2 git bundle\n${head} refs/agentrun/out\n\n`),
    pack,
    createHash('sha1').update(pack).digest(),
  ])
}
