import { expect, test } from 'vitest'
import { type CheckpointTest, startCheckpointTest } from './checkpoint-fixture.ts'

const files = {
  'README.md': '# Hello\n',
  'src/a.js': 'one\n',
  'src/b.js': 'two\n',
  '.gitignore': 'ignored/\n',
}

/** What a restored workspace shows, files and links by path. */
async function restored(fixture: CheckpointTest, command: string): Promise<string> {
  const created = await fixture.after(command)
  await fixture.keep(created)
  const found: string[] = []
  await fixture.restore(created, async (agent, again) => {
    expect(again.tree).toBe(created.tree)
    expect(again.left_out).toEqual([])
    const { text } = await agent.separate(
      'find . -path ./.git -prune -o -type f -print -o -type l -print | sort | while IFS= read -r f; do printf "%s=" "$f"; cat "$f" 2>&1; done',
    )
    found.push(text)
  })
  return found.join()
}

test('repositories within the workspace are kept as files, at any depth and in any state', async () => {
  await using fixture = await startCheckpointTest(files)
  const text = await restored(
    fixture,
    `mkdir -p lib/with-commit lib/unborn lib/empty deep/er
    (cd lib/with-commit; git init -q; echo nested > n.txt; git add .; git commit -qm n; echo later > later.txt; mkdir sub; cd sub; git init -q; echo inner > i.txt)
    (cd lib/unborn; git init -q; echo unborn > u.txt; mkdir -p src; echo x > src/x.txt)
    (cd lib/empty; git init -q); (cd deep; git init -q; cd er; git init -q; echo deepest > d.txt)`,
  )
  for (const line of [
    'lib/with-commit/n.txt=nested',
    'lib/with-commit/later.txt=later',
    'lib/with-commit/sub/i.txt=inner',
  ])
    expect(text).toContain(line)
  for (const line of ['lib/unborn/u.txt=unborn', 'lib/unborn/src/x.txt=x', 'deep/er/d.txt=deepest'])
    expect(text).toContain(line)
  expect(await restored(fixture, 'echo changed > lib/unborn/u.txt; rm lib/with-commit/n.txt')).toMatch(
    /lib\/unborn\/u.txt=changed/,
  )
})

test('a submodule that the agent fills is kept with its files, one that it leaves alone stays a link', async () => {
  await using fixture = await startCheckpointTest(files)
  const sha = '1'.repeat(40)
  await fixture.after(`git update-index --add --cacheinfo 160000,${sha},vendor/one --cacheinfo 160000,${sha},vendor/two; git commit -qm submodules
    mkdir -p vendor/one vendor/two`)
  const filled = await fixture.after('echo filled > vendor/one/file.txt')
  expect(await restored(fixture, 'true')).toContain('vendor/one/file.txt=filled')
  await fixture.restore(filled, async agent => {
    expect((await agent.shell('git status --porcelain; ls -d vendor/two')).text).toBe('vendor/two\n')
  })
})

test('a broken, deleted or forged .git of the agent loses only its commits', async () => {
  await using fixture = await startCheckpointTest(files)
  const lying = await fixture.after(
    `echo new > new.txt; echo ${'2'.repeat(40)} > .git/refs/heads/agent/run-7-task`,
  )
  expect(lying).toMatchObject({ head: null, left_out: [] })
  const garbage = await fixture.after(
    'echo newer > new.txt; echo garbage > .git/HEAD; echo garbage > .git/index; rm -rf .git/objects',
  )
  expect(garbage.head).toBe(null)
  const gone = await fixture.after('rm -rf .git; echo newest > new.txt')
  expect(gone).toMatchObject({ head: null, branch: null, left_out: [] })
  const pipe = await fixture.after('mkdir .git; mkfifo .git/HEAD')
  expect(pipe).toMatchObject({ tree: gone.tree, head: null })
  await fixture.keep(gone)
  await fixture.restore(gone, async (agent, again) => {
    expect(again.tree).toBe(gone.tree)
    expect((await agent.shell('cat new.txt; git status --porcelain')).text).toBe('newest\n?? new.txt\n')
  })
})

test('an object whose content does not match its name is rejected, and its content is taken from the files', async () => {
  await using fixture = await startCheckpointTest(files)
  const poisoned =
    await fixture.after(`printf 'honest\\n' > poisoned.txt; id=$(git hash-object -w poisoned.txt)
    other=$(printf 'evil\\n' | git hash-object -w --stdin); path() { echo .git/objects/\${1:0:2}/\${1:2}; }
    chmod u+w $(path $id); cp $(path $other) $(path $id); git add poisoned.txt 2>/dev/null; git commit -qm poisoned`)
  await fixture.keep(poisoned)
  await fixture.restore(poisoned, async agent =>
    expect((await agent.shell('cat poisoned.txt')).text).toBe('honest\n'),
  )
})

test('neither attributes nor configuration of the workspace run a program or change a byte', async () => {
  await using fixture = await startCheckpointTest({
    ...files,
    '.gitattributes': '*.crlf text eol=crlf\n*.id ident\n',
    'x.crlf': 'a\nb\n',
    'y.id': '$Id$\n',
  })
  const clone = await fixture.agent.shell('od -c x.crlf | head -1; cat y.id')
  expect(clone.text).toContain('\\r')
  const created =
    await fixture.after(`touch /tmp/watch; for name in filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.textconv core.fsmonitor; do
    git config $name 'touch /workspace/ran; cat'; done; git config filter.evil.required true
    mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch /workspace/ran\\n' | tee .git/hooks/post-index-change > .git/hooks/pre-commit; chmod +x .git/hooks/*
    printf '* filter=evil diff=evil text=auto working-tree-encoding=UTF-16\\n' > .gitattributes; printf 'a\\r\\nb\\n' > mixed.txt`)
  expect((await fixture.agent.shell('ls ran 2>&1')).text).toContain('No such file')
  await fixture.keep(fixture.first)
  await fixture.keep(created)
  const { text } = await fixture.agent.shell('sha256sum x.crlf y.id mixed.txt .gitattributes README.md')
  await fixture.restore(created, async (agent, again) => {
    expect(again.tree).toBe(created.tree)
    expect(
      (await agent.shell('sha256sum x.crlf y.id mixed.txt .gitattributes README.md; ls ran 2>/dev/null'))
        .text,
    ).toBe(text)
  })
  expect((await fixture.changed(fixture.first, created)).sort()).toEqual([
    'added mixed.txt',
    'modified .gitattributes',
  ])
})

test('a file that is too large or unreadable is left out and named; one that is no longer a file is removed', async () => {
  await using fixture = await startCheckpointTest(files)
  const created =
    await fixture.after(`head -c 1048577 /dev/zero > 'large file'; head -c 1048576 /dev/zero > largest; echo secret > closed; chmod 000 closed
    mkdir shut; echo x > shut/x; chmod 000 shut; head -c 2000000 /dev/zero > src/a.js; rm src/b.js; mkfifo src/b.js; echo fine > fine.txt`)
  expect(created.left_out.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
    'closed unreadable',
    'large file too_large',
    'shut/ unreadable',
    'src/a.js too_large',
  ])
  await fixture.keep(created)
  expect(await fixture.changed(fixture.first, created)).toEqual([
    'added fine.txt',
    'added largest',
    'deleted src/a.js',
    'deleted src/b.js',
  ])
  const repaired = await fixture.after(
    `chmod 755 shut; chmod 644 closed; rm 'large file' src/b.js; echo small > src/a.js`,
  )
  expect(repaired.left_out).toEqual([])
  await fixture.keep(repaired)
  expect(await fixture.changed(created, repaired)).toEqual(['added closed', 'added shut/x', 'added src/a.js'])
})

test('D138: a named pipe instead of a file that git reads does not block a snapshot', async () => {
  await using fixture = await startCheckpointTest({ 'a.txt': 'one\n' })
  const snapshot = await fixture.after(
    'mkfifo .gitignore .gitattributes; mkdir sub; mkfifo sub/.gitignore sub/.gitmodules; echo two >a.txt',
  )
  expect(snapshot.left_out).toEqual([])
  await fixture.keep(snapshot)
  expect(await fixture.changed(fixture.first, snapshot)).toEqual(['modified a.txt'])
})

test('files become folders and links and back, and odd names are names', async () => {
  await using fixture = await startCheckpointTest(files)
  const text = await restored(
    fixture,
    `mv src moved; ln -s moved src; rm README.md; mkdir README.md; echo in > README.md/in; echo dash > ./-n; echo star > './*'; echo colon > ':(top)x'
    echo quote > "a'b\\"c"; ln -s /etc/passwd outside; ln -s loop loop; mkdir ignored; echo tracked > ignored/t; git add -f ignored/t; git commit -qm t`,
  )
  for (const line of [
    './moved/a.js=one',
    './README.md/in=in',
    './-n=dash',
    './*=star',
    './:(top)x=colon',
    `./a'b"c=quote`,
    './ignored/t=tracked',
  ])
    expect(text).toContain(line)
  const back = await restored(fixture, 'rm src; mv moved src; rm -r README.md; echo file > README.md')
  expect(back).toContain('./src/a.js=one')
  expect(back).toContain('./README.md=file')
})

test('a name that could mislead git is left out, and files that configure submodules are kept unchanged', async () => {
  await using fixture = await startCheckpointTest(files)
  const odd =
    await fixture.after(`mkdir -p 'sub/git~1'; echo x > 'sub/git~1/config'; printf '[submodule "x"]\\n\\tpath = ../..\\n\\turl = -evil\\n' > .gitmodules
    head -c 5000 /dev/zero | tr '\\\\0' a > sub/.gitattributes`)
  expect(odd.left_out).toEqual([{ path: 'sub/git~1/config', reason: 'unreadable' }])
  await fixture.keep(odd)
  expect(await fixture.changed(fixture.first, odd)).toEqual(['added .gitmodules', 'added sub/.gitattributes'])
})
