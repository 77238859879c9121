import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import {
  type CodingApp,
  calls,
  finish,
  gitIn,
  makeRepository,
  responses,
  shell,
  startCodingApp,
} from '../coding-app.ts'

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'1'.repeat(64)}\nsize 12345\n`

async function endOf(app: CodingApp) {
  const { id } = await createRun(app, { prompt: 'Change it' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  const reviews = logs
    .filter(entry => entry.message_type === 'COMMIT_EVALUATION')
    .map(entry => entry.observation)
  const reported = logs
    .filter(entry => entry.observation?.code === 'change_not_committed')
    .map(entry => entry.observation.message)
  return { run, reviews, reported }
}

test('content instead of a pointer of Git LFS returns to the agent, and is in no commit of the pull request', async () => {
  const repository = makeRepository({
    '.gitattributes': '*.png filter=lfs diff=lfs merge=lfs -text\n',
    'a.png': POINTER,
    'b.txt': 'x\n',
  })
  const overwrite = calls(
    shell('head -c 5000 /dev/urandom >new.png; head -c 900 /dev/urandom >a.png; echo y >>b.txt'),
  )
  const restore = calls(
    shell('git checkout -q main -- a.png 2>/dev/null || git checkout -q origin/main -- a.png; rm new.png'),
  )
  await using app = await startCodingApp(
    responses(overwrite, finish('Done.'), restore, finish('Restored.')),
    {},
    repository,
  )
  const { run, reviews } = await endOf(app)
  expect(run).toMatchObject({
    status: 'completed',
    result: 'Restored.',
    github_pull_requests: [{ files_changed: 1 }],
  })
  expect(reviews.map(review => review.verdict)).toEqual(['fail', 'pass'])
  const found = reviews[0].findings.filter((finding: { code: string }) => finding.code === 'lfs_content')
  expect(found.map((finding: { path: string }) => finding.path)).toEqual(['a.png', 'new.png'])
  expect(app.git('log', '--format=', '--name-only', `main..${run.branch}`).trim()).toBe('b.txt')
})

test('content in a commit of the agent returns to it, also if a later commit or a merge replaces it, and leaves the history', async () => {
  const repository = makeRepository({
    '.gitattributes': '*.png filter=lfs -text\n',
    'a.png': POINTER,
    'm.png': POINTER,
    'b.txt': 'x\n',
  })
  const write = (name: string) => `head -c 900 /dev/urandom >${name}; git add ${name}`
  const pointerInLargeFile = `{ printf '${POINTER.replaceAll('\n', '\\n')}'; head -c 900 /dev/zero; } >large.png; git add large.png`
  const commits = [
    `${write('a.png')}; ${write('new.png')}; ${pointerInLargeFile}; echo y >>b.txt; git commit -qam raw`,
    'git checkout -q HEAD~ -- a.png; git rm -q new.png large.png; git commit -qam pointers',
    'git checkout -qb side HEAD~2; echo z >c.txt; git add c.txt; git commit -qm side; git checkout -q -',
    `git merge -q --no-commit side; ${write('m.png')}; git commit -qm merge`,
    'git checkout -q HEAD~ -- m.png; git commit -qm pointer',
  ]
  await using app = await startCodingApp(
    responses(calls(shell(commits.join('\n'))), finish('Done.'), finish('It is in no file.')),
    {},
    repository,
  )
  const { run, reviews } = await endOf(app)
  const found = reviews[0].findings.filter((finding: { code: string }) => finding.code === 'lfs_content')
  const paths = found.map((finding: { path: string }) => finding.path).sort()
  expect(paths).toEqual(['a.png', 'large.png', 'm.png', 'new.png'])
  expect(reviews.map(review => review.verdict)).toEqual(['fail', 'pass'])
  expect(run).toMatchObject({ status: 'completed', status_reason: null })
  const changed = app.git('log', '-m', '--format=', '--name-only', `main..${run.branch}`).trim()
  expect(changed.split('\n').sort()).toEqual(['b.txt', 'c.txt'])
})

test('a pointer, a link, an empty file and one without the attribute are committed as they are', async () => {
  const repository = makeRepository({ '.gitattributes': '*.png filter=lfs -text\n', 'b.txt': 'x\n' })
  const change = calls(
    shell(
      `printf '${POINTER.replaceAll('\n', '\\n')}' >a.png; ln -s b.txt l.png; touch e.png; echo y >>b.txt`,
    ),
  )
  await using app = await startCodingApp(responses(change, finish('Done.')), {}, repository)
  const { run, reviews } = await endOf(app)
  expect(reviews).toMatchObject([{ verdict: 'pass', findings: [] }])
  expect(run.github_pull_requests).toMatchObject([{ files_changed: 4 }])
})

test('changes in the folder of a submodule are named in the trace and in the review', async () => {
  const repository = makeRepository({
    '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = https://example.org/lib.git\n',
    'a.txt': 'x\n',
  })
  gitIn(
    repository,
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${gitIn(repository, 'rev-parse', 'HEAD').trim()},lib`,
  )
  gitIn(repository, 'commit', '--quiet', '-m', 'add lib')
  const change = calls(shell('mkdir -p lib/src; echo fix >lib/src/s; echo y >>a.txt'))
  await using app = await startCodingApp(responses(change, finish('Done.')), {}, repository)
  const { run, reviews, reported } = await endOf(app)
  expect(reviews).toMatchObject([
    { findings: [{ code: 'change_not_committed', severity: 'warning', path: 'lib' }] },
  ])
  expect(reported).toEqual([expect.stringContaining('lib: It is the folder of a submodule')])
  expect(run.github_pull_requests).toMatchObject([{ files_changed: 1 }])
})

test('a commit of a submodule that only the workspace has is named, and one of its remote is not', async () => {
  const modules = ['lib', 'old'].map(
    name => `[submodule "${name}"]\n\tpath = ${name}\n\turl = https://example.org/${name}.git\n`,
  )
  const repository = makeRepository({ '.gitmodules': modules.join(''), 'a.txt': 'x\n' })
  for (const name of ['lib', 'old'])
    gitIn(
      repository,
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${gitIn(repository, 'rev-parse', 'HEAD').trim()},${name}`,
    )
  gitIn(repository, 'commit', '--quiet', '-m', 'add both')
  const commit =
    'for m in lib old; do (git init -q $m; cd $m; echo f >f; git add f; git commit -q -m f); done'
  const change = calls(
    shell(`${commit}; git -C old update-ref refs/remotes/origin/main HEAD; echo y >>a.txt`),
  )
  await using app = await startCodingApp(responses(change, finish('Done.')), {}, repository)
  const { run, reviews } = await endOf(app)
  expect(reviews).toMatchObject([{ findings: [{ code: 'change_not_committed', path: 'lib' }] }])
  expect(run.github_pull_requests).toMatchObject([{ files_changed: 3 }])
})

test('a marked file that was removed, replaced or made executable is named', async () => {
  const change = calls(
    shell(
      'git update-index --assume-unchanged gone link mode same; rm gone; ln -sf same link; chmod +x mode; git update-index --skip-worktree left; rm left; echo y >>a.txt',
    ),
  )
  const files = ['gone', 'left', 'link', 'mode', 'same'].map(name => [name, 'x\n'])
  await using app = await startCodingApp(
    responses(change, finish('Done.'), finish('Done.'), finish('Done.')),
    {},
    makeRepository({ ...Object.fromEntries(files), 'a.txt': 'x\n' }),
  )
  const { reviews } = await endOf(app)
  expect(reviews[0].findings.map((finding: { path: string }) => finding.path).sort()).toEqual([
    'gone',
    'link',
    'mode',
  ])
})

test('a change that git ignores because of a mark is named, also where the commit has nothing else', async () => {
  const change = calls(
    shell(
      'git update-index --assume-unchanged a.txt; git update-index --skip-worktree b.txt; echo y >>a.txt; echo y >>b.txt',
    ),
  )
  const repository = makeRepository({ 'a.txt': 'x\n', 'b.txt': 'x\n', 'c.txt': 'x\n' })
  await using app = await startCodingApp(responses(change, finish('Done.')), {}, repository)
  const { run, reviews, reported } = await endOf(app)
  expect(run).toMatchObject({
    status: 'completed',
    status_reason: 'no_effect',
    result: expect.stringContaining('leaves these paths out: `a.txt`, `b.txt`.'),
    github_pull_requests: [],
  })
  expect(reviews).toEqual([])
  expect(
    reported[0]
      .split('\n')
      .map((line: string) => line.split(': It is marked')[0])
      .slice(1),
  ).toEqual(['a.txt', 'b.txt'])
})

test('unreadable files and folders return to the agent, and ignored ones do not', async () => {
  const change = calls(
    shell(
      'echo y >>a.txt; echo n >n.txt; mkdir d; echo d >d/d.txt; chmod 000 n.txt d; mkdir ignored; chmod 000 ignored',
    ),
  )
  const repair = calls(shell('chmod 644 n.txt; chmod 755 d'))
  const repository = makeRepository({ '.gitignore': 'ignored/\n', 'a.txt': 'x\n' })
  await using app = await startCodingApp(
    responses(change, finish('Done.'), repair, finish('Readable.')),
    {},
    repository,
  )
  const { run, reviews } = await endOf(app)
  expect(reviews.map(review => review.verdict)).toEqual(['fail', 'pass'])
  expect(reviews[0].findings.map((finding: { path: string }) => finding.path).sort()).toEqual(['d/', 'n.txt'])
  expect(run).toMatchObject({ result: 'Readable.', github_pull_requests: [{ files_changed: 3 }] })
})
