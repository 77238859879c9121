import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mirrorRefs } from '../../src/git/mirrors/mirror-refs.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { importPack, withObjectCache } from '../../src/git/objects/object-cache.ts'
import { TreeShapes } from '../../src/git/objects/tree-shapes.ts'
import { importBundle } from '../../src/git/publish/bundles.ts'
import { hasCommit } from '../../src/git/read/revisions.ts'
import { commitFiles, localRepository, makeRepository, openGitFixture, run, runText } from './repositories.ts'

async function ready() {
  const fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  return {
    fixture,
    source,
    repo,
    base,
    objects: { repository_id: repo.id, run_id: 4 },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}
type Ready = Awaited<ReturnType<typeof ready>>

const mktree = (folder: string, lines: string[]) =>
  runText(folder, 'git', ['mktree'], { input: lines.join('') })

/** The tree at the top of `levels` trees with ten entries each: 10^levels paths. */
async function tenfold(folder: string, levels: number): Promise<string> {
  let [mode, sha] = [
    '100644 blob',
    await runText(folder, 'git', ['hash-object', '-w', '--stdin'], { input: 'x' }),
  ]
  for (let level = 0; level < levels; level++) {
    sha = await mktree(
      folder,
      Array.from({ length: 10 }, (_, n) => `${mode} ${sha}\t${n}\n`),
    )
    mode = '040000 tree'
  }
  return sha
}

async function nested(folder: string, levels: number): Promise<string> {
  const blob = await runText(folder, 'git', ['hash-object', '-w', '--stdin'], { input: 'x' })
  let sha = await mktree(folder, [`100644 blob ${blob}\tfile\n`])
  for (let level = 0; level < levels; level++)
    sha = await mktree(folder, [`040000 tree ${sha}\t${'n'.repeat(250)}\n`])
  return sha
}

const commitOf = (set: Ready, tree: string, parents = [set.base]) =>
  runText(set.source, 'git', ['commit-tree', '-m', 'made', ...parents.flatMap(sha => ['-p', sha]), tree])

async function bundle(set: Ready, head: string): Promise<string> {
  const file = join(set.fixture.dir, `${head}.bundle`)
  await run(set.source, 'git', ['update-ref', 'refs/agentrun/out', head])
  await run(set.source, 'git', ['bundle', 'create', '-q', file, 'refs/agentrun/out', `^${set.base}`])
  await run(set.source, 'git', ['update-ref', '-d', 'refs/agentrun/out'])
  return file
}

describe('what a run brings is refused, and nothing of it is kept, when it has', () => {
  const cases: [what: string, message: RegExp, make: (set: Ready) => Promise<string>][] = [
    [
      '12 objects that stand for 10^10 files',
      /expands to more than 500000 files/,
      async set => commitOf(set, await tenfold(set.source, 10)),
    ],
    [
      '10^6 files in a commit that a later one takes away',
      /expands to more than 500000 files/,
      async set =>
        commitOf(set, await runText(set.source, 'git', ['rev-parse', `${set.base}^{tree}`]), [
          await commitOf(set, await tenfold(set.source, 6)),
        ]),
    ],
    [
      'a path that no system can open',
      /path of more than 4095 bytes/,
      async set => commitOf(set, await nested(set.source, 20)),
    ],
    [
      'a commit of hundreds of parents',
      /more than 128 parents/,
      async set => {
        const tree = await runText(set.source, 'git', ['rev-parse', `${set.base}^{tree}`])
        const headers = `author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nmany\n`
        const parents = await Promise.all(
          Array.from({ length: 130 }, (_, n) =>
            runText(set.source, 'git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
              input: `tree ${tree}\n${headers}${n}\n`,
            }),
          ),
        )
        return runText(set.source, 'git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
          input: `tree ${tree}\n${[set.base, ...parents].map(sha => `parent ${sha}\n`).join('')}${headers}`,
        })
      },
    ],
    [
      'a message of megabytes',
      /the commit [0-9a-f]{40} has \d+ bytes/,
      async set => {
        const tree = await runText(set.source, 'git', ['rev-parse', `${set.base}^{tree}`])
        return runText(set.source, 'git', ['commit-tree', '-F', '-', '-p', set.base, tree], {
          input: 'word '.repeat(300_000),
        })
      },
    ],
  ]
  test.each(cases)('%s', async (_, message, make) => {
    await using set = await ready()
    const head = await make(set)
    const file = await bundle(set, head)
    const refused = { code: 'too_large', message: expect.stringMatching(message) }
    await expect(
      importBundle(set.fixture.host, set.objects, file, { head_sha: head, base_sha: set.base }),
    ).rejects.toMatchObject(refused)
    expect(await hasCommit(set.fixture.host, set.objects, head)).toBe(false)
    // What is known of its trees by now lets it through no more than what was read.
    await expect(
      importBundle(set.fixture.host, set.objects, file, { head_sha: head, base_sha: set.base }),
    ).rejects.toMatchObject(refused)
  })
})

test("a limit of files is the operator's, and a tree counts with what the repository has already", async () => {
  await using set = await ready()
  const [few, many] = [
    await commitOf(set, await tenfold(set.source, 3)),
    await commitOf(set, await tenfold(set.source, 4)),
  ]
  await using strict = await openGitFixture({ max_paths: 1_000 })
  await refreshMirror(strict.host, set.repo)
  const take = async (head: string) =>
    importBundle(strict.host, set.objects, await bundle(set, head), { head_sha: head, base_sha: set.base })
  await take(few)
  await expect(take(many)).rejects.toMatchObject({ code: 'too_large' })
})

test('a checkpoint with a bomb is refused each time', async () => {
  await using set = await ready()
  const tip = await commitOf(set, await tenfold(set.source, 10), [])
  const pack = await run(set.source, 'git', ['pack-objects', '--revs', '--stdout', '-q'], {
    input: `${tip}\n`,
  })
  const take = () =>
    withObjectCache(set.fixture.host, 4, () =>
      importPack(set.fixture.host, set.objects, { pack, objects: [tip], max_bytes: 1e6 }),
    )
  await expect(take()).rejects.toMatchObject({ code: 'too_large' })
  await expect(take()).rejects.toMatchObject({ code: 'too_large' })
})

test('a branch of a remote that is a bomb is refused at the first fetch and later, and the mirror has it at no time after', async () => {
  await using set = await ready()
  const bomb = await commitOf(set, await tenfold(set.source, 10))
  await run(set.source, 'git', ['branch', 'bomb', bomb])
  const refused = {
    code: 'too_large',
    message: expect.stringContaining('refs/heads/bomb of the repository cannot be used'),
  }
  const other = { ...set.repo, id: set.repo.id + 1 }
  await expect(refreshMirror(set.fixture.host, other)).rejects.toMatchObject(refused)
  expect(await mirrorRefs(set.fixture.host, other.id)).toBe(null)
  for (let again = 0; again < 2; again++)
    await expect(refreshMirror(set.fixture.host, set.repo)).rejects.toMatchObject(refused)
  expect([...((await mirrorRefs(set.fixture.host, set.repo.id)) ?? [])].map(([name]) => name)).toEqual([
    'refs/heads/main',
  ])
  await run(set.source, 'git', ['branch', '-D', '-q', 'bomb'])
  await commitFiles(set.source, 'on', { 'b.txt': 'b' })
  expect(await refreshMirror(set.fixture.host, set.repo)).toMatchObject({ changed: true })
})

test('each tree is read once, however often it is named', async () => {
  await using set = await ready()
  const top = await tenfold(set.source, 10)
  const trees = new TreeShapes(new Map(), 10)
  const waiting = [top]
  for (let sha = waiting.pop(); sha !== undefined; sha = waiting.pop()) {
    const bytes = await run(set.source, 'git', ['cat-file', 'tree', sha])
    waiting.push(...(await trees.add(sha, bytes)))
  }
  const shapes = await trees.settle()
  expect([trees.read, shapes.get(top)]).toEqual([10, { paths: 1e10, longest: 19 }])
})

test('a tree of very many folders is counted, and nothing is kept of one with more entries than files are allowed', {
  timeout: 120_000,
}, async () => {
  const wide = (entries: number) =>
    Buffer.concat(
      Array.from({ length: entries }, (_, n) => {
        const sha = Buffer.alloc(20)
        sha.writeUInt32BE(n + 1, 16)
        return Buffer.concat([Buffer.from(`40000 d${n}\0`), sha])
      }),
    )
  const trees = new TreeShapes(new Map(), 150_000)
  const folders = await trees.add('a'.repeat(40), wide(150_000))
  const one = Buffer.concat([Buffer.from('100644 f\0'), Buffer.alloc(20, 1)])
  for (const sha of folders) await trees.add(sha, one)
  expect((await trees.settle()).get('a'.repeat(40))).toEqual({ paths: 150_000, longest: 9 })
  expect(await trees.add('b'.repeat(40), wide(150_001))).toEqual([])
  expect((await trees.settle()).get('b'.repeat(40))?.paths).toBe(Number.POSITIVE_INFINITY)
})

test('a bomb in an older commit is found behind more trees than are read together', {
  timeout: 120_000,
}, async () => {
  await using set = await ready()
  const bomb = await commitOf(set, await tenfold(set.source, 10), [])
  const junk: string[] = []
  const blob = await runText(set.source, 'git', ['hash-object', '-w', '--stdin'], { input: 'x' })
  for (let n = 0; n < 3; n++) {
    const entries = Array.from(
      { length: 60_000 },
      (_, at) => `100644 blob ${blob}\tn${n}-${String(at).padStart(200, '0')}\n`,
    )
    junk.push(await mktree(set.source, entries))
  }
  let tip = bomb
  for (const tree of [...junk, await mktree(set.source, [`100644 blob ${blob}\tf\n`])])
    tip = await commitOf(set, tree, [tip])
  const taken = importBundle(set.fixture.host, set.objects, await bundle(set, tip), {
    head_sha: tip,
    base_sha: set.base,
  })
  await expect(taken).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('expands to more'),
  })
})
