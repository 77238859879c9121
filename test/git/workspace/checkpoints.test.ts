import { expect, test } from 'vitest'
import { startCheckpointTest } from './checkpoint-fixture.ts'

const files = {
  'README.md': '# Hello\n',
  'src/a.js': 'one\n',
  'src/b.js': 'two\n',
  '.gitignore': 'ignored/\n*.log\n',
}
const list = 'find . -path ./.git -prune -o -type f -printf "%P %m " -exec sha256sum {} \\; | sort'

test('what a snapshot holds comes back byte by byte, with commits, branch and uncommitted work, and nothing that was ignored', async () => {
  await using fixture = await startCheckpointTest(files)
  expect(fixture.first).toMatchObject({ head: fixture.base_sha, branch: 'agent/run-7-task', left_out: [] })
  const same = await fixture.after('cat README.md')
  expect(same).toEqual(fixture.first)
  const created =
    await fixture.after(`echo by the agent > committed.txt; git add committed.txt; git commit -qm 'By the agent'
    echo three >> src/a.js; rm src/b.js; printf 'a\\r\\nb\\0c' > 'odd name é
'; ln -s README.md link; chmod +x README.md; mkdir -p ignored; echo x > ignored/x; echo x > some.log; echo un > new.txt`)
  expect(created.head).not.toBe(fixture.base_sha)
  await fixture.keep(created)
  const { text: before } = await fixture.agent.separate(list)
  const { text: status } = await fixture.agent.separate(
    'git status --porcelain; git log --format=%H; git branch --show-current',
  )
  await fixture.restore(created, async (agent, again) => {
    expect(again).toEqual(created)
    const { text } = await agent.separate(
      `rm -rf ignored some.log; ${list}; git status --porcelain; git log --format=%H; git branch --show-current`,
    )
    expect(text).toBe(
      before
        .split('\n')
        .filter(line => !/^(ignored|some\.log)/.test(line))
        .join('\n') + status,
    )
    expect((await agent.separate('readlink link; git fsck --strict 2>&1')).text).toContain('README.md\n')
  })
  expect(await fixture.changed(fixture.first, created)).toEqual([
    'modified README.md',
    'added committed.txt',
    'added link',
    'added new.txt',
    'added odd name é\n',
    'modified src/a.js',
    'deleted src/b.js',
  ])
})

test('an empty workspace without repository has snapshots too, and what the agent commits there comes back', async () => {
  await using fixture = await startCheckpointTest(null)
  expect(fixture.first).toMatchObject({
    tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    head: null,
    branch: null,
  })
  const written = await fixture.after('echo hello > hello.txt')
  await fixture.keep(written)
  await fixture.restore(written, async (agent, again) => {
    expect(again).toEqual(written)
    expect((await agent.shell('cat hello.txt; ls -A')).text).toBe('hello\nhello.txt\n')
  })
  const committed = await fixture.after(
    'git init -q .; git add .; git commit -qm first; echo more > more.txt',
  )
  expect(committed).toMatchObject({ branch: 'main' })
  await fixture.keep(committed)
  await fixture.restore(committed, async (agent, again) => {
    expect(again).toEqual(committed)
    expect((await agent.shell('git log --format=%s; git status --porcelain')).text).toBe(
      'first\n?? more.txt\n',
    )
  })
})

test('packs build on each other: a small change of a large file costs little', async () => {
  const large = Array.from({ length: 20_000 }, (_, i) => `line ${i} ${(i * 7919) % 10_007}`).join('\n')
  await using fixture = await startCheckpointTest({ 'large.txt': large })
  const first = await fixture.keep(await fixture.after('echo end >> large.txt'))
  const second = await fixture.keep(await fixture.after('sed -i s/^line.77.// large.txt'))
  expect(first.bytes).toBeLessThan(2_000)
  expect(second.bytes).toBeLessThan(2_000)
})

test('snapshots look into stored packs only if they build on them', async () => {
  await using fixture = await startCheckpointTest(files)
  expect(await fixture.borrowed()).toBe('/mirror/objects\n')
  const snapshot = await fixture.after('echo four >> src/a.js')
  await fixture.keep(snapshot)
  await fixture.restore(snapshot, async (_agent, again) => {
    expect(await fixture.borrowed()).toBe('/mirror/objects\n/kept/objects\n')
    expect(again.tree).toBe(snapshot.tree)
  })
})

test('a snapshot is one command, which reports that the files may change before it names them', async () => {
  await using fixture = await startCheckpointTest(files)
  await fixture.agent.shell('echo four >> src/a.js')
  fixture.commands.length = 0
  const order: string[] = []
  const taken = await fixture.shots.take(
    fixture.first,
    { stale: false, largest_bytes: Number.POSITIVE_INFINITY },
    () => order.push('captured'),
    20_000,
  )
  order.push('named')
  expect(taken?.tree).toMatch(/^[0-9a-f]{40}$/)
  expect(taken?.tree).not.toBe(fixture.first.tree)
  expect(order.slice(0, 1)).toEqual(['captured'])
  expect(fixture.commands.filter(command => command.includes('snapshot'))).toHaveLength(1)
  expect(fixture.commands.filter(command => !command.startsWith('find '))).toHaveLength(1)
  if (taken)
    expect(
      await fixture.shots.take(
        taken,
        { stale: false, largest_bytes: Number.POSITIVE_INFINITY },
        () => {},
        20_000,
      ),
    ).toBe(null)
})
