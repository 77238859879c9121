import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import { isLargeTree } from '../../../src/git/objects/tree-size.ts'
import {
  exactlyBesideCommand,
  onTemplateCommand,
  TEMPLATE_DAMAGED,
  templateCommand,
} from '../../../src/git/workspace/template-commands.ts'
import { commitFiles, localRepository, makeRepository, openGitFixture, runText } from '../repositories.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

/**
 * A repository with what a checkout has to get right, a plain clone of it, and a folder with its template in
 * it.
 */
async function ready() {
  const fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'), {
    'README.md': '# Hello\n',
    '.gitignore': 'ignored/\n',
    'a/b/c': 'deep\n',
  })
  await runText(source, 'sh', [
    '-c',
    `printf 'one\\r\\ntwo\\r\\n' > crlf.txt; printf '*.bin binary\\n*.win eol=crlf\\n' > .gitattributes; printf 'one\\ntwo\\n' > x.win
     ln -s a/b link; printf '#!/bin/sh\\n' > run.sh; chmod +x run.sh; : > empty; printf x > 'a name with "quotes"'; printf x > ./-rf; printf x > ":(top)"
     git add -A; git -c user.name=A -c user.email=a@example.org commit -qm second; git tag v1; git branch other`,
  ])
  const sha = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  const plain = await openWorkspace(fixture, repo, sha)
  expect((await plain.clone()).exit_code).toBe(0)
  const made = await openWorkspace(fixture, repo, sha)
  expect(
    await made.bash(templateCommand({ mirror_inside: made.input.mirror_inside, base_sha: sha })),
  ).toMatchObject({
    exit_code: 0,
    output: '',
  })
  return {
    fixture,
    source,
    repo,
    sha,
    plain,
    made,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

const begin = (workspace: Workspace, sha: string) =>
  workspace.bash(onTemplateCommand({ ...workspace.input, base_sha: sha }))
/** Everything that a person or git can read from a workspace, except times. */
const all = String.raw`git status --porcelain=v2 --branch; git log --oneline --all; git for-each-ref; git config --list --local; git reflog --format=%gs
  git ls-files --stage; find . -path ./.git -prune -o -printf '%p %m %s %l\n' | sort; find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort
  find .git -printf '%p %m\n' | sort; cat .git/HEAD .git/objects/info/alternates; git rev-parse HEAD^{tree}; git write-tree`

test('what begins on a template is in every respect what a clone is, and what comes of it the same commit and the same bundle', async () => {
  await using set = await ready()
  expect(await begin(set.made, set.sha)).toMatchObject({ exit_code: 0, output: '' })
  expect((await set.made.bash(all)).output).toBe((await set.plain.bash(all)).output)
  expect((await set.made.bash('git status --short; git fsck --no-dangling 2>&1')).output).toBe('')
  const change =
    'echo more >>a/b/c; rm link; git mv README.md READ.md; echo new >new; git branch mine; git stash list'
  const shas: (string | null)[] = []
  for (const workspace of [set.plain, set.made]) {
    await workspace.bash(change)
    shas.push((await workspace.commit()).head_sha)
  }
  expect(shas[0]).toBe(shas[1])
  expect(await set.made.deliver(shas[1] ?? '')).toEqual(await set.plain.deliver(shas[0] ?? ''))
})

test('after setup commands a commit has exactly its files, those that are as they were keep their age, and nothing left in .git is believed', async () => {
  await using set = await ready()
  const later = await commitFiles(set.source, 'later', { 'README.md': '# Later\n', added: 'added' })
  await runText(set.source, 'git', [
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@example.org',
    'rm',
    '--quiet',
    'empty',
  ])
  const last = await commitFiles(set.source, 'last', { more: 'more' })
  await refreshMirror(set.fixture.host, set.repo)
  const exactly = (sha: string) =>
    exactlyBesideCommand({ ...set.plain.input, base_sha: sha, made_at_sha: set.sha })
  const ages = async () =>
    (await set.plain.bash("stat -c '%n %Y' a/b/c crlf.txt README.md run.sh made")).output
  await set.plain.bash(
    `find . -path ./.git -prune -o -type f -exec touch -d @1000000000 {} +; touch -d @1100000000 run.sh made
     echo changed >README.md; rm crlf.txt; git update-index --assume-unchanged README.md; printf '[core]\n\tbare = true\n' >.git/config`,
  )
  expect(await set.plain.bash(exactly(last))).toMatchObject({ exit_code: 0, output: '' })
  const [deep, crlf, readme, run, made] = (await ages()).trim().split('\n')
  expect([deep, run, made]).toEqual(['a/b/c 1000000000', 'run.sh 1100000000', 'made 1100000000'])
  for (const written of [crlf, readme]) expect(written).not.toContain(' 1000000000')
  expect(
    (await set.plain.bash('git status --porcelain --ignored; cat README.md added; ls empty')).output,
  ).toBe("?? made\n# Later\naddedls: cannot access 'empty': No such file or directory\n")
  expect((await set.plain.bash('git rev-parse HEAD')).output).toBe(`${last}\n`)
  expect(later).not.toBe(last)
})

test('the branches of the remote are the current ones, not those of the creation of the template', async () => {
  await using set = await ready()
  const later = await commitFiles(set.source, 'later', { later: 'later' })
  await refreshMirror(set.fixture.host, set.repo)
  await begin(set.made, set.sha)
  expect((await set.made.bash('git rev-parse origin/main HEAD')).output).toBe(`${later}\n${set.sha}\n`)
})

test.each([
  ['a file that was cut short', ': > a/b/c'],
  ['a file that is missing', 'rm crlf.txt'],
  ['an index that is broken', 'printf broken > .git/index'],
  ['an index that is missing', 'rm .git/index'],
])('%s in a template is detected, reported and repaired', async (_what, damage) => {
  await using set = await ready()
  await set.made.bash(damage)
  expect(await begin(set.made, set.sha)).toMatchObject({ exit_code: 0, output: `${TEMPLATE_DAMAGED}\n` })
  expect((await set.made.bash(all)).output).toBe((await set.plain.bash(all)).output)
})

test('a commit is large by the number or size of its files; a missing commit is not large', async () => {
  await using set = await ready()
  const large = (least: { files: number; bytes: number }, sha = set.sha) =>
    isLargeTree(set.fixture.host, set.repo.id, sha, least)
  expect(await large({ files: 13, bytes: 1e6 })).toBe(false)
  expect(await large({ files: 12, bytes: 1e6 })).toBe(true)
  expect(await large({ files: 1, bytes: 1e6 })).toBe(true)
  expect(await large({ files: 1e6, bytes: 20 })).toBe(true)
  expect(await large({ files: 1, bytes: 1 }, 'f'.repeat(40))).toBe(false)
})
