import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { withObjectCache } from '../../src/git/objects/object-cache.ts'
import { objectsOf } from '../../src/git/objects/objects.ts'
import { readHistory } from '../../src/git/read/branch-history.ts'
import { listCommits } from '../../src/git/read/commits.ts'
import { storedNewObjects } from '../../src/git/read/new-objects.ts'
import { commitFiles, localRepository, makeRepository, openGitFixture, run, runText } from './repositories.ts'

/** A repository in whose history a shell script has worked since `base`, and its mirror. */
async function history(script: string) {
  const fixture = await openGitFixture()
  const source = await makeRepository(join(fixture.dir, 'source'))
  const base = await commitFiles(source, 'base', { 'a.txt': 'one\n', 'b/c.txt': 'two\n' })
  await run(source, 'bash', ['-ec', script])
  const head = await runText(source, 'git', ['rev-parse', 'HEAD'])
  const repo = localRepository(source)
  await refreshMirror(fixture.host, repo)
  await withObjectCache(fixture.host, 4, async () => {})
  const objects = { repository_id: repo.id, run_id: 4 }
  return {
    host: fixture.host,
    source,
    head,
    base,
    objects,
    read: () => readHistory(fixture.host, objects, base, head),
    listed: () => listCommits(fixture.host, objects, base, head),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

const COMMIT = 'git commit -q --allow-empty-message -m'
const MERGES = [
  'git checkout -q -b side',
  `echo side >s.txt; git add -A; ${COMMIT} side`,
  'git checkout -q main',
  `echo main >m.txt; git add -A; ${COMMIT} main`,
].join('\n')

const histories: [what: string, script: string][] = [
  ['a commit', `echo x >>a.txt; echo y >new.txt; git add -A; ${COMMIT} one`],
  ['commits without a change', `${COMMIT} one --allow-empty; ${COMMIT} '' --allow-empty`],
  [
    'a move, a removal and a change of a mode',
    `git mv a.txt z.txt; git rm -q b/c.txt; ${COMMIT} one; chmod +x z.txt; ${COMMIT} two -a`,
  ],
  [
    'a file that becomes a link, and a submodule',
    `ln -sf b a.txt; git update-index --add --cacheinfo 160000,${'1'.repeat(40)},sub; git add a.txt; ${COMMIT} one`,
  ],
  ['bytes that are not text', `printf 'a\\0b\\n\\1' >bin; git add -A; ${COMMIT} one`],
  [
    'names that git quotes',
    `printf x >"$(printf 'n\\351\\n"')"; printf x >' diff --git a b'; printf x >'t\tb'; git add -A; ${COMMIT} one`,
  ],
  [
    'lines like those of a patch',
    `printf '++ b/x\\ndiff --git a/x b/x\\n:100644 100644 a b M\\n@@ -1 +1 @@\\n' >p.txt; git add -A; ${COMMIT} "$(printf 'diff --git a/x b/x\\n\\n:100644')"`,
  ],
  [
    'a message in another encoding',
    `echo x >>a.txt; git -c i18n.commitEncoding=ISO-8859-1 commit -qam "$(printf 'gr\\374n')"`,
  ],
  ['a merge', `${MERGES}\ngit merge -q --no-edit side`],
  [
    'a merge of three',
    `${MERGES}\ngit checkout -q -b third HEAD~1; echo 3 >3.txt; git add -A; ${COMMIT} third; git checkout -q main; git merge -q --no-edit side third`,
  ],
]

test.each(histories)('the commits of a branch with %s are those that git lists', async (_, script) => {
  await using set = await history(script)
  const { commits } = await set.read()
  expect(commits).toEqual(await set.listed())
  expect(commits?.length).toBeGreaterThan(0)
})

test('which files a merge changes is unknown where it changes nothing against a parent', async () => {
  await using set = await history(`${MERGES}\ngit merge -q -s ours --no-edit side`)
  expect((await set.read()).commits).toBeNull()
  expect((await set.listed()).at(-1)).toMatchObject({ files: [] })
})

test('what each commit adds is found with its path, whatever a later one removes', async () => {
  await using set = await history(
    [
      `printf 'secret one' >>a.txt; printf 'a\\0secret two\\n' >bin; git add -A; ${COMMIT} 'secret three'`,
      `git rm -q bin; git checkout -q HEAD~1 a.txt; ${COMMIT} two --author='secret four <a@b>'`,
    ].join('\n'),
  )
  const { added } = await set.read()
  const found = added.flatMap(({ path, text }) =>
    (text.match(/secret \w+/g) ?? []).map(secret => `${path}: ${secret}`),
  )
  expect(found.sort()).toEqual([
    'a.txt: secret one',
    'bin: secret two',
    'null: secret four',
    'null: secret three',
  ])
})

test('new objects are all versions of files with their sizes, commits as they are stored, and their parents', async () => {
  await using set = await history(
    `printf 12345 >big; git add -A; ${COMMIT} one; printf 123 >big; printf x >"$(printf 'caf\\351')"; git add -A; ${COMMIT} two`,
  )
  const found = await storedNewObjects(set.host, set.objects, { base_sha: set.base, head_sha: set.head })
  expect(found.blobs.map(({ path, bytes }) => `${path} ${bytes}`).sort()).toEqual([
    '"caf\\351" 1',
    'big 3',
    'big 5',
  ])
  const one = await runText(set.source, 'git', ['rev-parse', 'HEAD~1'])
  expect(found.parents).toEqual(new Set([one, set.base]))
  const stored = await Promise.all(
    [set.head, one].map(sha => run(set.source, 'git', ['cat-file', 'commit', sha])),
  )
  expect(found.commits).toBe(stored.map(String).join('\n'))
})

test('a new object that is missing is an error', async () => {
  await using set = await history(`echo x >x.txt; git add -A; ${COMMIT} one`)
  const { git_dir } = objectsOf(set.host, set.objects)
  const blob = await runText(set.source, 'git', ['rev-parse', 'HEAD:x.txt'])
  await run(git_dir, 'bash', [
    '-ec',
    'p=$(ls objects/pack/*.pack); mv $p /tmp/$$.pack; git unpack-objects -q </tmp/$$.pack; rm -f /tmp/$$.pack objects/pack/*',
  ])
  await run(git_dir, 'rm', [join('objects', blob.slice(0, 2), blob.slice(2))])
  await expect(
    storedNewObjects(set.host, set.objects, { base_sha: set.base, head_sha: set.head }),
  ).rejects.toMatchObject({ code: 'corrupt' })
})
