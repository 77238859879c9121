import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TEMPLATE_DAMAGED } from '../../../src/git/workspace/template-commands.ts'
import { type App, rows } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'
import { makeManyFiles } from './many-files.ts'

const templates = (app: App) => readdirSync(join(app.data_dir, 'templates'))
const workspaceOf = async (app: App, id: number) =>
  (await rows<{ workspace: string }>(app, 'select workspace from runs where id = $1', [id]))[0]?.workspace ??
  ''
const resume = (app: App, id: number, prompt: string) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, prompt })
/** The output of the commands of a run. */
const outputs = async (app: App, id: number): Promise<string[]> =>
  (await allLogs(app, id))
    .filter(entry => entry.tool_name === 'shell' && entry.tool_output)
    .map(entry => entry.tool_output.output)

const poll = shell(
  'git status --short; git log --format=%s; git branch --show-current; ls src | wc -l; grep -c overlay /proc/self/mountinfo',
)
const change = shell(
  'echo more >> src/part-1/file-1.js; rm -r src/part-2; mkdir src/part-2; echo new > src/part-2/new.js; mv src/part-3 src/moved; echo x > x.log',
)

test('runs of one commit use the same template, see nothing of each other, and leave it unchanged', async () => {
  await using app = await startCodingApp(
    responses(calls(poll), calls(change), { text: 'First.' }, calls(poll), calls(change), {
      text: 'Second.',
    }),
    {},
    makeManyFiles(),
  )
  const first = await createRun(app, { prompt: 'x' })
  const one = await awaitEnd(app, first.id)
  const [name = ''] = templates(app)
  expect(name).toMatch(/^\d+-[0-9a-f]{40}$/)
  expect(await workspaceOf(app, one.id)).toMatch(new RegExp(`\\.on\\.${name}$`))
  const second = await createRun(app, { prompt: 'x' })
  const two = await awaitEnd(app, second.id)
  expect(templates(app)).toEqual([name])
  for (const run of [one, two]) {
    expect(run.status).toBe('completed')
    expect((await outputs(app, run.id))[0]).toBe(`all at once\n${run.branch}\n20\n1\n`)
  }
  expect(app.git('show', '--name-status', '--format=', two.branch)).toContain('src/part-2/new.js')
  expect(app.git('rev-parse', `${one.branch}^{tree}`)).toBe(app.git('rev-parse', `${two.branch}^{tree}`))
  const steps = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${two.id}/diff`)
  expect(steps.body.files.length).toBeGreaterThan(60)
})

test('a turn continues with the files of the previous turn, and from checkpoints when their template is gone', async () => {
  const seen = shell(
    'cat src/part-1/file-1.js src/part-2/*; ls src/moved | wc -l; ls; ls src | wc -l; grep -c overlay /proc/self/mountinfo',
  )
  await using app = await startCodingApp(
    responses(calls(change), { text: 'First.' }, calls(seen), { text: 'Second.' }, calls(seen), {
      text: 'Third.',
    }),
    {},
    makeManyFiles(),
  )
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  const before = await workspaceOf(app, id)
  await resume(app, id, 'y')
  expect((await awaitEnd(app, id)).result).toBe('Second.')
  const after = await workspaceOf(app, id)
  expect([existsSync(before), after.split('.on.')[1]]).toEqual([false, before.split('.on.')[1]])
  const files = 'export const n = 1\nmore\nnew\n30\nsrc\n'
  expect((await outputs(app, id))[1]).toBe(files.replace('src\n', 'src\nx.log\n20\n1\n'))

  const [name = ''] = templates(app)
  renameSync(join(app.data_dir, 'templates', name), join(app.data_dir, 'gone'))
  await resume(app, id, 'z')
  expect((await awaitEnd(app, id)).result).toBe('Third.')
  expect((await outputs(app, id))[2]).toBe(`${files}20\n0\n`)
  const restored = (await allLogs(app, id)).findLast(entry => entry.tool_name === 'workspace_restored')
  expect(restored.tool_output).toMatchObject({ how: 'restored', matches: true })
})

test('a damaged template costs the next run a checkout, and the one after it has a new one', async () => {
  const intact = shell('git status --short; cat src/part-1/file-1.js; grep -c overlay /proc/self/mountinfo')
  await using app = await startCodingApp(
    responses(...Array.from({ length: 3 }, () => [calls(intact), { text: 'Done.' }]).flat()),
    {},
    makeManyFiles(),
  )
  const work = async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    await awaitEnd(app, id)
    const cloned = (await allLogs(app, id)).find(entry => entry.tool_name === 'git_clone')
    return { seen: (await outputs(app, id))[0], error_output: cloned.tool_output.output as string }
  }
  const good = { seen: 'export const n = 1\n1\n', error_output: '' }
  expect(await work()).toEqual(good)
  const [name = ''] = templates(app)
  writeFileSync(join(app.data_dir, 'templates', name, 'tree', 'src', 'part-1', 'file-1.js'), 'cut')
  expect(await work()).toEqual({ ...good, error_output: TEMPLATE_DAMAGED })
  expect(await work()).toEqual(good)
  expect(templates(app)).toContain(name)
})

test('without space for templates, and for a small repository, each run clones', async () => {
  const plain = shell('ls | wc -l; grep -c overlay /proc/self/mountinfo')
  await using app = await startCodingApp(
    responses(calls(plain), { text: 'Done.' }),
    { AGENTRUN_TEMPLATE_BYTES: '0' },
    makeManyFiles(),
  )
  await using small = await startCodingApp(responses(calls(plain), { text: 'Done.' }))
  for (const [each, files] of [
    [app, 1],
    [small, 3],
  ] as const) {
    const { id } = await createRun(each, { prompt: 'x' })
    await awaitEnd(each, id)
    expect((await outputs(each, id))[0]).toBe(`${files}\n0\n`)
    expect(templates(each)).toEqual([])
  }
})
