import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { gitIn, makeRepository, startCodingApp } from '../coding-app.ts'

test('submodules and files of Git LFS, which a clone does not fetch, are reported in the trace and to the agent', async () => {
  const repository = makeRepository({
    '.gitattributes': '*.psd filter=lfs diff=lfs merge=lfs -text\n',
    '.gitmodules': '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://example.org/lib.git\n',
    'logo.psd': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
  })
  gitIn(
    repository,
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${gitIn(repository, 'rev-parse', 'HEAD').trim()},vendor/lib`,
  )
  gitIn(repository, 'commit', '--quiet', '-m', 'add vendor/lib')
  await using app = await startCodingApp(() => ({ text: 'looked' }), {}, repository)
  const { id } = await createRun(app, { prompt: 'look' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'looked' })
  const entry = (await allLogs(app, id)).find(({ tool_name }) => tool_name === 'git_left_out')
  expect(entry?.tool_output).toMatchObject({ status: 'ok', submodules: ['vendor/lib'], lfs: true })
  expect(JSON.stringify(app.model.requests[0]?.body)).toContain(
    'Its submodules are not checked out (vendor/lib)',
  )
}, 30_000)
