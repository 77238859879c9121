import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import { mirrorPath } from '../../../src/git/process/git-host.ts'
import { readChanges } from '../../../src/git/read/changes.ts'
import { bundleCommand } from '../../../src/git/workspace/bundle-command.ts'
import { commitCommand } from '../../../src/git/workspace/commit-command.ts'
import {
  commitFiles,
  type GitFixture,
  localRepository,
  makeBare,
  makeRepository,
  openGitFixture,
  run,
  runText,
} from '../repositories.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

type Ready = AsyncDisposable & {
  fixture: GitFixture
  workspace: Workspace
  base: string
  repo: ReturnType<typeof localRepository>
  source: string
}

/** A cloned workspace of a repository with one file, a second branch and a tag. */
async function ready(
  files: Record<string, string> = { 'README.md': '# Hello\n', '.gitignore': 'ignored/\n*.log\n' },
): Promise<Ready> {
  const fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'), files)
  const base = await runText(source, 'git', ['rev-parse', 'HEAD'])
  await runText(source, 'git', ['checkout', '-q', '-b', 'other'])
  await commitFiles(source, 'other work', { 'README.md': '# Other\n' })
  await runText(source, 'git', ['checkout', '-q', 'main'])
  await runText(source, 'git', ['tag', 'v1'])
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  await run(mirrorPath(fixture.host, repo.id), 'git', ['update-ref', 'refs/agentrun/3/1', base], {
    user: fixture.host.user,
  })
  const workspace = await openWorkspace(fixture, repo, base)
  const cloned = await workspace.clone()
  if (cloned.exit_code !== 0) throw new Error(cloned.output)
  return {
    fixture,
    workspace,
    base,
    repo,
    source,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

/** Commits, delivers, and gives what the host sees of it. */
async function deliver(set: Ready) {
  const { head_sha, committed } = await set.workspace.commit()
  if (!head_sha) throw new Error('no commit')
  await set.workspace.deliver(head_sha)
  const changes = await readChanges(set.fixture.host, set.repo.id, set.base, head_sha, {
    max_patch_bytes: 100_000,
  })
  return { head_sha, committed, ...changes, paths: changes.files.map(file => file.path) }
}

describe('a clone', () => {
  test('is on its own branch at the base, with the branches and tags of the remote and nothing of other runs', async () => {
    await using set = await ready()
    const { bash } = set.workspace
    expect((await bash('git status --porcelain=v2 --branch')).output).toBe(
      `# branch.oid ${set.base}\n# branch.head agent/run-7-task\n`,
    )
    expect((await bash('git for-each-ref --format="%(refname)"')).output.trim().split('\n')).toEqual([
      'refs/heads/agent/run-7-task',
      'refs/remotes/origin/main',
      'refs/remotes/origin/other',
      'refs/tags/v1',
    ])
    expect((await bash('git log --format=%s origin/other')).output).toBe('other work\nfirst\n')
    expect((await bash('cat README.md; git fsck --no-dangling 2>&1')).output).toBe('# Hello\n')
  })

  test('knows its author and its origin, and fetching from it reads the mirror', async () => {
    await using set = await ready()
    const { bash } = set.workspace
    expect(
      (await bash('git config user.name; git config user.email; git config remote.origin.url')).output,
    ).toBe('Agent "A" O\'Run\nagent@example.org\nhttps://git.example.org/acme/app.git\n')
    const moved = await commitFiles(set.source, 'later', { 'later.txt': 'later' })
    await refreshMirror(set.fixture.host, set.repo)
    expect((await bash('git fetch -q && git rev-parse origin/main')).output.trim()).toBe(moved)
    expect((await bash('git push -q origin HEAD:main')).exit_code).not.toBe(0)
    expect(await runText(set.source, 'git', ['rev-parse', 'main'])).toBe(moved)
  })

  test('can be recreated over a broken one', async () => {
    await using set = await ready()
    await set.workspace.bash('rm -rf .git/refs .git/HEAD; echo junk > README.md')
    expect(await set.workspace.clone()).toMatchObject({ exit_code: 0 })
    expect((await set.workspace.bash('git status --porcelain; cat README.md')).output).toBe('# Hello\n')
  })

  test('of a shallow repository works, and so does a change on top of it', async () => {
    await using fixture = await openGitFixture()
    const source = await makeRepository(join(fixture.dir, 'source'))
    await commitFiles(source, 'second', { 'b.txt': 'b' })
    const shallow = join(fixture.dir, 'shallow')
    await run('/', 'git', ['clone', '-q', '--depth', '1', `file://${source}`, shallow])
    const repo = localRepository(shallow)
    await refreshMirror(fixture.host, repo)
    const base = await runText(shallow, 'git', ['rev-parse', 'HEAD'])
    const workspace = await openWorkspace(fixture, repo, base)
    expect(await workspace.clone()).toMatchObject({ exit_code: 0, output: '' })
    expect((await workspace.bash('git log --format=%s; echo c > c.txt')).output).toBe('second\n')
    const { head_sha } = await workspace.commit()
    await workspace.deliver(head_sha ?? '')
    expect(
      (await readChanges(fixture.host, repo.id, base, head_sha ?? '', { max_patch_bytes: 1_000 })).files,
    ).toMatchObject([{ path: 'c.txt' }])
  })

  test('of an empty repository is an empty workspace, and its first commit can be delivered', async () => {
    await using fixture = await openGitFixture()
    const repo = localRepository(await makeBare(join(fixture.dir, 'remote.git')))
    await refreshMirror(fixture.host, repo)
    const workspace = await openWorkspace(fixture, repo, null)
    expect(await workspace.clone()).toMatchObject({ exit_code: 0, output: '' })
    expect(await workspace.commit()).toEqual({ head_sha: null, committed: false })
    await workspace.bash('echo a > a.txt')
    const { head_sha, committed } = await workspace.commit()
    expect(committed).toBe(true)
    await workspace.deliver(head_sha ?? '')
    expect(
      (await readChanges(fixture.host, repo.id, null, head_sha ?? '', { max_patch_bytes: 1_000 })).files,
    ).toMatchObject([{ path: 'a.txt', status: 'added' }])
  })

  test('survives that its mirror is rewritten: a later turn commits and delivers again', async () => {
    await using set = await ready()
    await set.workspace.bash('echo one > one.txt')
    const first = await deliver(set)
    await runText(set.source, 'git', ['commit', '-q', '--amend', '-m', 'rewritten'])
    await runText(set.source, 'git', ['branch', '-D', 'other'])
    await refreshMirror(set.fixture.host, set.repo)
    await set.workspace.bash('echo two > two.txt')
    const second = await deliver(set)
    expect(second.paths).toEqual(['one.txt', 'two.txt'])
    expect((await set.workspace.bash(`git log --format=%H -2; git fsck --no-dangling 2>&1`)).output).toBe(
      `${second.head_sha}\n${first.head_sha}\n`,
    )
  })
})

describe('a commit', () => {
  test('takes everything that is not ignored, with message and author as given', async () => {
    await using set = await ready()
    await set.workspace.bash(
      'mkdir -p ignored deep/er; echo x > ignored/x; echo x > a.log; echo x > deep/er/new; rm README.md; ln -s deep link; printf "#!/bin/sh" > tool; chmod +x tool',
    )
    const message = 'Don\'t $(touch pwned) `touch pwned`\n\n# not a comment\n  "quoted"\n\\n end\n'
    const { head_sha } = await set.workspace.commit(message)
    const raw = (await set.workspace.bash(`git cat-file commit ${head_sha}`)).output
    expect(raw).toMatch(/\nauthor Agent "A" O'Run <agent@example.org> /)
    expect(raw.slice(raw.indexOf('\n\n') + 2)).toBe(message)
    expect((await deliver(set)).paths.sort()).toEqual(['README.md', 'deep/er/new', 'link', 'tool'])
    expect((await set.workspace.bash('git status --porcelain; ls')).output).not.toContain('pwned')
  })

  test('of nothing is reported as empty, with the head of the workspace', async () => {
    await using set = await ready()
    await set.workspace.bash('mkdir ignored; echo x > ignored/x; touch README.md')
    expect(await set.workspace.commit()).toEqual({ head_sha: set.base, committed: false })
    expect(
      (
        await set.workspace.bash(
          commitCommand({
            ...set.workspace.input,
            message: 'x',
            at: new Date('2026-11-20T10:30:00Z'),
            exported_sha: null,
          }),
        )
      ).exit_code,
    ).toBe(3)
    expect(await set.workspace.deliver(set.base)).toEqual({ ref: 'refs/agentrun/7/1', sha: set.base })
  })

  const states: [what: string, command: string, paths: string[]][] = [
    ['the agent committed itself', 'echo a > a; git add a; git commit -qm mine; echo b > b', ['a', 'b']],
    ['the agent committed everything itself', 'echo a > a; git add a; git commit -qm mine', ['a']],
    ['the agent went to another branch', 'git checkout -q -b mine; echo a > a', ['a']],
    [
      'the agent is on no branch',
      'git checkout -q --detach; echo a > a; git add a; git commit -qm x; echo b > b',
      ['a', 'b'],
    ],
    [
      'a merge is in conflict',
      'echo "# Mine" > README.md; git commit -qam mine; git merge -q origin/other; echo a > a; test -e .git/MERGE_HEAD',
      ['README.md', 'a'],
    ],
    [
      'a merge waits to be concluded',
      'git merge -q --no-commit --no-ff origin/other; echo a > a; test -e .git/MERGE_HEAD',
      ['README.md', 'a'],
    ],
    [
      'a rebase stopped',
      'echo "# Mine" > README.md; git commit -qam mine; git rebase -q origin/other; echo a > a; test -d .git/rebase-merge',
      ['README.md', 'a'],
    ],
    [
      'a cherry-pick stopped',
      'echo "# Mine" > README.md; git commit -qam mine; git cherry-pick origin/other; echo a > a; test -e .git/CHERRY_PICK_HEAD',
      ['README.md', 'a'],
    ],
    [
      'locks were left',
      'touch .git/index.lock .git/HEAD.lock .git/config.lock .git/refs/heads/agent/run-7-task.lock; echo a > a',
      ['a'],
    ],
    ['the index is broken', 'echo broken > .git/index; echo a > a', ['a']],
    ['the index is gone', 'rm .git/index; echo a > a', ['a']],
    ['everything is unstaged', 'git rm -q --cached README.md; echo a > a', ['a']],
    ['.git was deleted', 'rm -rf .git; echo a > a', ['a']],
    ['.git became a file', 'rm -rf .git; echo "gitdir: /etc" > .git; echo a > a', ['a']],
    ['.git became a link', 'mv .git ../moved-$$; ln -s ../moved-$$ .git; echo a > a', ['a']],
    ['the configuration is broken', 'echo "[broken" > .git/config; echo a > a', ['a']],
    ['HEAD is broken', 'echo nonsense > .git/HEAD; echo a > a', ['a']],
    ['the branch is broken', 'echo nonsense > .git/refs/heads/agent/run-7-task; echo a > a', ['a']],
    ['the branch was deleted', 'git update-ref -d refs/heads/agent/run-7-task; echo a > a', ['a']],
    ['an orphan branch was begun', 'git checkout -q --orphan fresh; echo a > a', ['a']],
    ['the borrowed objects were forgotten', 'rm .git/objects/info/alternates; echo a > a', ['a']],
    ['it was made bare', 'git config core.bare true; echo a > a', ['a']],
    ['its work tree was set elsewhere', 'git config core.worktree /etc; echo a > a', ['a']],
    [
      'hooks refuse',
      'for h in pre-commit commit-msg prepare-commit-msg; do mkdir -p .git/hooks; printf "#!/bin/sh\\nexit 1\\n" > .git/hooks/$h; chmod +x .git/hooks/$h; done; echo a > a',
      ['a'],
    ],
    [
      'signing is asked for',
      'git config commit.gpgSign true; git config gpg.program /bin/false; echo a > a',
      ['a'],
    ],
    ['D147: the configuration of its user is broken', 'echo "[broken" > ~/.gitconfig; echo a > a', ['a']],
    [
      'D147: its base was replaced',
      'git replace HEAD $(git commit-tree -m x HEAD^{tree}); echo a > a',
      ['a'],
    ],
    ['D147: its history was cut', 'git rev-parse HEAD > .git/shallow; echo a > a', ['a']],
    ['D147: it is of a format to come', 'git config core.repositoryFormatVersion 99; echo a > a', ['a']],
    [
      'D147: it fetches what it lacks by a program',
      'git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.uploadpack /bin/false; echo a > a',
      ['a'],
    ],
    [
      'D147: a configuration of the work tree leads elsewhere',
      'git config extensions.worktreeConfig true; git config --worktree core.worktree /etc; echo a > a',
      ['a'],
    ],
    [
      'D147: files have the names of options',
      'echo a > --force; mkdir -- -n; echo a > -n/x',
      ['--force', '-n/x'],
    ],
    ['a file cannot be read', 'echo a > a; echo b > b; chmod 000 b', ['a']],
    [
      'it holds a repository of its own',
      'mkdir sub; cd sub; git init -q; echo a > a; git add a; git commit -qm x',
      ['sub/a'],
    ],
    [
      'it holds a repository without a commit',
      'mkdir -p sub/deep; cd sub/deep; git init -q; echo a > a',
      ['sub/deep/a'],
    ],
    [
      'it holds a repository within a repository',
      'git init -q sub; git init -q sub/sub; echo a > sub/a; echo b > sub/sub/b',
      ['sub/a', 'sub/sub/b'],
    ],
    [
      'the agent added a repository as a link',
      'git init -q sub; cd sub; echo a > a; git add a; git commit -qm x; cd ..; git add sub; git commit -qm link',
      ['sub/a'],
    ],
  ]
  describe('in a workspace of its own, beside others of the same repository', () => {
    let shared: Ready
    beforeAll(async () => {
      shared = await ready()
    })
    afterAll(() => shared[Symbol.asyncDispose]())

    test.each(states)('holds the work although %s', async (_, command, paths) => {
      const set = { ...shared, workspace: await openWorkspace(shared.fixture, shared.repo, shared.base) }
      expect(await set.workspace.clone()).toMatchObject({ exit_code: 0 })
      expect(await set.workspace.bash(command)).toMatchObject({ exit_code: 0 })
      const delivered = await deliver(set)
      expect(delivered.paths.sort()).toEqual(paths)
      expect(await set.workspace.commit()).toEqual({ head_sha: delivered.head_sha, committed: false })
    })
  })

  test('leaves a repository within the workspace as it was', async () => {
    await using set = await ready()
    await set.workspace.bash('git init -q sub; cd sub; echo a > a; git add a; git commit -qm inner')
    await deliver(set)
    expect(
      (
        await set.workspace.bash(
          'git -C sub log --format=%s; git status --porcelain; ls .git/agentrun-nested',
        )
      ).output,
    ).toBe('inner\n')
    await set.workspace.bash('echo b > sub/b')
    expect((await deliver(set)).paths).toEqual(['sub/a', 'sub/b'])
  })

  test('keeps file names of any bytes', async () => {
    await using set = await ready()
    await set.workspace.bash(
      `printf x > $'new\\nline'; printf y > $'caf\\xe9'; printf z > $'tab\\t"quote"'; printf w > ' -rf'; printf v > 'ünï'; mkdir -p $'d\\n'; printf u > $'d\\n/a'; git init -q $'n\\n'; printf t > $'n\\n/t'`,
    )
    const { paths, patch, additions } = await deliver(set)
    expect(paths.sort()).toEqual(
      [' -rf', '"caf\\351"', 'd\n/a', 'n\n/t', 'new\nline', 'tab\t"quote"', 'ünï'].sort(),
    )
    expect(additions).toBe(7)
    expect(patch).toContain('+++ "b/new\\nline"')
    expect(patch).toContain('+++ b/ünï')
  })
})

test('the same files with the same message at the same time are the same commit, for every creator and folder', async () => {
  await using set = await ready()
  const created = async (workspace: Workspace) => {
    await workspace.bash('echo new > new.txt')
    return (await workspace.commit('Add it')).head_sha
  }
  const elsewhere = await openWorkspace(set.fixture, set.repo, set.base)
  await elsewhere.clone()
  const [here, there] = [await created(set.workspace), await created(elsewhere)]
  expect(here).toMatch(/^[0-9a-f]{40}$/)
  expect(there).toBe(here)
})

test('a bundle of a merge with what the mirror has already stays small', async () => {
  await using set = await ready()
  const big = Array.from({ length: 20_000 }, Math.random).join()
  await runText(set.source, 'git', ['checkout', '-q', 'other'])
  await commitFiles(set.source, 'big', { big })
  await refreshMirror(set.fixture.host, set.repo)
  await set.workspace.bash(
    'git fetch -q; git merge -q -s ours --no-edit origin/other; git checkout -q origin/other -- big',
  )
  const { head_sha } = await set.workspace.commit()
  const ran = await set.workspace.bash(bundleCommand({ ...set.workspace.input, head_sha: head_sha ?? '' }))
  expect(ran.exit_code).toBe(0)
  expect(ran.stdout.length).toBeGreaterThan(0)
  expect(ran.stdout.length).toBeLessThan(5_000)
})
