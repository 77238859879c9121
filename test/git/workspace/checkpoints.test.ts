import { expect, test } from 'vitest'
import type { Snapshot } from '../../../src/git/workspace/checkpoint-commands.ts'
import { ANY_FILES, filesOf, startCheckpointTest } from './checkpoint-fixture.ts'

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
    expect(filesOf(again)).toEqual(filesOf(created))
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
    expect(filesOf(again)).toEqual(filesOf(written))
    expect((await agent.shell('cat hello.txt; ls -A')).text).toBe('hello\nhello.txt\n')
  })
  const committed = await fixture.after(
    'git init -q .; git add .; git commit -qm first; echo more > more.txt',
  )
  expect(committed).toMatchObject({ branch: 'main' })
  await fixture.keep(committed)
  await fixture.restore(committed, async (agent, again) => {
    expect(filesOf(again)).toEqual(filesOf(committed))
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

test('packs of snapshots from the changed paths build on each other, and the host accepts and restores them', async () => {
  const text = Array.from({ length: 3_000 }, (_, i) => `line ${i} ${(i * 7919) % 10_007}`).join('\n')
  await using fixture = await startCheckpointTest({ ...files, 'text.txt': text })
  const { agent, shots } = fixture
  let last = fixture.first
  const by_git: boolean[] = []
  const step = async (command: string) => {
    await agent.shell(command)
    const taken = await shots.take(last, ANY_FILES, () => {}, 20_000)
    by_git.push(taken.by_git)
    last = taken.snapshot ?? last
    return fixture.keep(last)
  }
  await step('echo end >>text.txt')
  await step('echo end >>text.txt')
  const processes = await fixture.processesOf('shots', async () => {
    expect((await step('sed -i s/^line.1500./changed/ text.txt')).bytes).toBeLessThan(1_000)
    await step('mkdir -p new/folder; head -c 40000 /dev/urandom >new/folder/random; : >empty; rm src/b.js')
    await step('rm -r src new; ln -s text.txt src; mv text.txt moved.txt; printf "\\0\\1" >>README.md')
    await step(`rm src; mkdir src; for i in {1..300}; do echo $i >src/file-$i; done`)
    expect((await step('echo more >>src/file-150')).bytes).toBeLessThan(1_500)
  })
  expect(processes).toBe(0)
  expect(by_git).not.toContain(true)
  const wanted = (await agent.separate(list)).text
  await fixture.restore(last, async (restored, again) => {
    expect(again.tree).toBe(last.tree)
    expect((await restored.separate(`git fsck --strict; ${list}`)).text).toBe(wanted)
  })
})

test('versions that were never stored do not count against the limit of a pack', async () => {
  await using fixture = await startCheckpointTest(files)
  const { agent, shots } = fixture
  let last = fixture.first
  await fixture.keep(last)
  // A pack may have 32 MiB, and the service writes files of up to 1 MiB together.
  for (let n = 0; n < 19; n++) {
    await agent.shell('head -c 900000 /dev/urandom >random')
    last = (await shots.take(last, ANY_FILES, () => {}, 20_000)).snapshot ?? last
  }
  await agent.shell('echo small >random')
  last = (await shots.take(last, ANY_FILES, () => {}, 20_000)).snapshot ?? last
  expect((await fixture.keep(last)).bytes).toBeLessThan(10_000)
})

test('a pack beside the next snapshot leaves the index of git alone', async () => {
  await using fixture = await startCheckpointTest(files)
  const { agent, shots, commands } = fixture
  const take = async (before: Snapshot, command: string) => {
    await agent.shell(command)
    return (await shots.take(before, ANY_FILES, () => {}, 20_000)).snapshot ?? before
  }
  const first = await take(fixture.first, 'echo one >new.txt')
  await fixture.keep(first)
  const second = await take(first, 'echo two >new.txt')
  const by_git = await take(second, 'touch .gitignore; echo three >new.txt')
  commands.length = 0
  await fixture.keep(by_git)
  expect(commands.filter(command => command.includes('read-tree -i'))).toEqual([])
  await fixture.restore(by_git, async restored =>
    expect((await restored.separate('cat new.txt')).text).toBe('three\n'),
  )
})

test('a program that ends before it reports a snapshot costs no change: git takes that one and all others', async () => {
  const lose = () => {
    throw new Error('lost')
  }
  await using fixture = await startCheckpointTest(files, sandbox => ({
    ...sandbox,
    openProcess: request => sandbox.openProcess({ ...request, on_stdout: lose }),
  }))
  // Without rules of what is ignored the program takes the first one.
  const first = await fixture.after('rm .gitignore; echo 1 >new.txt')
  expect(first.tree).not.toBe(fixture.first.tree)
  const second = await fixture.after('echo 2 >new.txt')
  expect(second.tree).not.toBe(first.tree)
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

test('a snapshot by git is one command, which reports that the files may change before it names them', async () => {
  await using fixture = await startCheckpointTest(files)
  await fixture.agent.shell('echo four >> src/a.js')
  fixture.commands.length = 0
  const order: string[] = []
  const { snapshot: taken } = await fixture.shots.take(
    fixture.first,
    { ...ANY_FILES, complete: true },
    () => order.push('captured'),
    20_000,
  )
  order.push('named')
  expect(taken?.tree).toMatch(/^[0-9a-f]{40}$/)
  expect(taken?.tree).not.toBe(fixture.first.tree)
  expect(order.slice(0, 1)).toEqual(['captured'])
  expect(fixture.commands.filter(command => command.includes('snapshot'))).toHaveLength(1)
  // Before it, git learns what the service has written.
  expect(fixture.commands.filter(command => !command.startsWith('find '))).toHaveLength(2)
  if (taken)
    expect(await fixture.shots.take(taken, { ...ANY_FILES, complete: true }, () => {}, 20_000)).toMatchObject(
      { snapshot: null, differs: null },
    )
})
