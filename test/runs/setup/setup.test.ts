// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { nodeHeaders } from '../../../src/sandbox/bubblewrap/host-files.ts'
import { servePlain, type TestServer } from '../../egress/servers.ts'
import type { FakeResponse } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, finish, shell, startCodingApp } from '../coding-app.ts'

const SECRET = 'deploy-key-0123456789'

let app: CodingApp
let server: TestServer
let script: FakeResponse[]
beforeAll(async () => {
  server = await servePlain((request, response) => response.end(`hello ${request.url}`))
  app = await startCodingApp(() => script.shift() ?? { text: 'Done.' }, {
    AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
    AGENTRUN_SETUP_MAX_SECONDS: '20',
  })
  await app.call('PUT', at('/secrets/DEPLOY_KEY'), { value: SECRET })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
beforeEach(() => {
  script = []
})

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const setUpBy = async (commands: string[], more: Record<string, unknown> = {}) =>
  expect(
    (await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands, ...more })).status,
  ).toBe(200)
// Local addresses bypass the proxy unless curl is configured otherwise.
const curl = (path: string) =>
  `env -u http_proxy curl --noproxy '' -fsS -m 5 -x http://127.0.0.1:3128 http://localhost:${server.port}${path}`
const ofTool = (logs: any[], name: string) => logs.filter(entry => entry.tool_name === name)

test('setup commands run after the clone and before the agent, with secrets, variables and network; these are gone afterwards, but created files remain', async () => {
  await setUpBy(
    [
      'echo "$DEPLOY_KEY $COLOR"; mkdir lib; echo lib >lib/made; echo own >own.txt; echo "// more" >>count.js; cd lib',
      `pwd; echo "in ${'$'}(pwd)" >~/home.txt; ${curl('/setup')}; (sleep 4321 &)`,
    ],
    { variables: { COLOR: 'blue' } },
  )
  script = [
    calls(
      shell(
        'cat lib/made own.txt ~/home.txt; pwd; echo "[$DEPLOY_KEY$COLOR]"; pgrep -f 4321; git status --porcelain',
      ),
    ),
    calls(shell(`${curl('/agent')}; echo mine >mine.txt`)),
  ]
  const { id } = await createRun(app, { prompt: 'work' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.slice(-2))).toMatchObject({ status: 'completed', result: 'Done.' })
  expect(
    ofTool(logs, 'setup_command').map(({ tool_input, tool_output }) => ({ ...tool_input, ...tool_output })),
  ).toMatchObject([
    { n: 1, of: 2, status: 'ok', exit_code: 0, output: '[redacted:DEPLOY_KEY] blue\n' },
    { n: 2, of: 2, status: 'ok', output: '/workspace/lib\nhello /setup' },
  ])
  expect(ofTool(logs, 'sandbox_secrets')[0]).toMatchObject({
    tool_input: { for: 'setup' },
    tool_output: { names: ['DEPLOY_KEY'] },
  })
  expect(ofTool(logs, 'setup_changes')[0].tool_output).toEqual({
    status: 'ok',
    changed: ['count.js'],
    left_out: ['lib/', 'own.txt'],
  })
  const [seen, tried] = ofTool(logs, 'shell').map(({ tool_output }) => tool_output.output)
  expect(seen).toBe('lib\nown\nin /workspace/lib\n/workspace\n[]\n M count.js\n')
  expect(tried).not.toContain('hello')
  expect(app.git('diff', '--name-only', 'main', run.branch)).toBe('count.js\nmine.txt\n')
  const reported = JSON.stringify(app.model.requests[0]?.body)
  expect(reported).toContain('These commands have prepared the workspace')
  expect(reported).toMatch(
    /nor is what you add in it:\\n\\n<repository_instructions [^>]*>\\nlib\/, own\.txt\\n</,
  )
})

test('they have the headers of Node, and programs that npm installs globally are last on the PATH of the agent', async () => {
  const greeter = JSON.stringify({
    name: 'greeter',
    version: '1.0.0',
    bin: { 'greet-all': 'greet.sh', ls: 'greet.sh' },
  })
  await setUpBy([
    'ls "$npm_config_nodedir/include/node/node_api.h"',
    `mkdir greeter && cd greeter && echo '${greeter}' >package.json && printf '#!/bin/sh\\necho hello all\\n' >greet.sh && npm install --global .`,
  ])
  script = [calls(shell('greet-all; ls -d /usr; echo $npm_package_config_node_gyp_nodedir'))]
  const { id } = await createRun(app, { prompt: 'work' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const logs = await allLogs(app, id)
  const node = nodeHeaders(process.execPath) === null ? '' : '/opt/node'
  expect(ofTool(logs, 'setup_command')[0].tool_output.output).toContain(`${node}/include/node/node_api.h`)
  expect(ofTool(logs, 'shell')[0].tool_output.output).toBe(`hello all\n/usr\n${node}\n`)
})

test('a failed setup command ends the run before the first model call, with command and last line; after a fix, a resume runs the commands', async () => {
  const requested = app.model.requests.length
  await setUpBy(['echo fine', 'echo why >&2; exit 3', 'echo never'])
  const { id } = await createRun(app, { prompt: 'work' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'setup_failed',
    error: {
      code: 'setup_command_failed',
      message: 'Setup command 2 of 3 failed with exit code 3: echo why >&2; exit 3\nwhy',
    },
  })
  expect(app.model.requests.length).toBe(requested)
  const logs = await allLogs(app, id)
  expect(ofTool(logs, 'setup_command').map(entry => entry.tool_output?.status ?? entry.message_type)).toEqual(
    ['ok', 'error', 'ERROR'],
  )
  const error = {
    message_type: 'ERROR',
    tool_name: 'setup_command',
    observation: { code: 'setup_command_failed', phase: 'setup' },
  }
  expect(logs.at(-1)).toMatchObject(error)

  await setUpBy(['echo fixed >~/fixed'])
  script = [calls(shell('cat ~/fixed'))]
  await app.call('POST', at(`/agent/run/${id}/resume`), { prompt: 'again' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 2 })
  expect(ofTool(await allLogs(app, id), 'shell').at(-1).tool_output.output).toBe('fixed\n')
})

test('if the repository allows failures, the run continues and the agent is notified', async () => {
  await setUpBy(['exit 3', 'echo after >~/after'], { on_failure: 'continue' })
  script = [calls(shell('cat ~/after'))]
  const { id } = await createRun(app, { prompt: 'work' })
  const result = 'Done.\n\nThe setup of the workspace is incomplete, because these commands failed: `exit 3`.'
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    status_reason: 'setup_failed',
    result,
  })
  expect(ofTool(await allLogs(app, id), 'shell')[0].tool_output.output).toBe('after\n')
  const body = app.model.requests.at(-2)?.body as { messages: { role: string; content: string }[] }
  expect(JSON.stringify(body.messages.filter(({ role }) => role === 'user'))).toContain(
    '`exit 3` failed with exit code 3',
  )
})

test('a second turn finds the created files and does not repeat the commands, unless they have changed', async () => {
  await setUpBy(['echo once >>~/times'])
  script = [
    finish('First.'),
    calls(shell('cat ~/times; echo own >~/own')),
    { text: 'Second.' },
    calls(shell('cat ~/times; ls ~')),
  ]
  const { id } = await createRun(app, { prompt: 'work' })
  await awaitEnd(app, id)
  const again = async () => {
    await app.call('POST', at(`/agent/run/${id}/resume`), { prompt: 'again' })
    await awaitEnd(app, id)
    const logs = await allLogs(app, id)
    return {
      output: ofTool(logs, 'shell').at(-1).tool_output.output,
      commands: ofTool(logs, 'setup_command').length,
    }
  }
  expect(await again()).toEqual({ output: 'once\n', commands: 1 })
  await setUpBy(['echo other >~/times'])
  expect(await again()).toEqual({ output: 'other\ntimes\n', commands: 2 })
})

test('files that the agent created stay part of the change when the commands run again', async () => {
  await setUpBy(['echo made >made.txt'])
  script = [
    calls(shell('echo mine >mine.txt; echo "# more" >>README.md'), {
      name: 'ask',
      arguments: { question: 'Go on?' },
    }),
  ]
  const { id } = await createRun(app, { prompt: 'work' })
  await awaitRun(app, id, run => run.status === 'waiting')
  await setUpBy(['echo made >made.txt; echo other >other.txt'])
  await app.call('POST', at(`/agent/run/${id}/resume`), { prompt: 'yes' })
  const run = await awaitEnd(app, id)
  expect(run.status).toBe('completed')
  expect(app.git('diff', '--name-only', 'main', run.branch)).toBe('README.md\nmine.txt\n')
})

test('a stop ends setup commands immediately', async () => {
  await setUpBy(['sleep 1000'])
  const { id } = await createRun(app, { prompt: 'work' })
  expect(await awaitRun(app, id, run => run.phase === 'setup')).toMatchObject({
    status: 'starting',
    waiting_on: 'setup',
  })
  await app.call('POST', at('/agent/run/stop'), { agent_run_id: id })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
})

test('an organization can deny network access to them', async () => {
  await app.call('PUT', at('/egress'), { agent: {}, setup: { mode: 'off' } })
  await setUpBy([`${curl('/setup')} || echo closed`])
  const { id } = await createRun(app, { prompt: 'work' })
  await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(ofTool(logs, 'setup_command')[0].tool_output.output).toMatch(/closed\n$/)
  expect(ofTool(logs, 'egress_blocked')).toMatchObject([
    {
      tool_input: { for: 'setup', host: 'localhost', port: server.port },
      tool_output: { reason: 'off', command: expect.stringContaining('curl') },
    },
  ])
  await app.call('PUT', at('/egress'), {
    agent: { allow: [{ host: 'localhost', port: server.port }] },
    setup: { mode: 'allowlist' },
  })
  await app.call('DELETE', at(`/repos/${app.repo_id}/environments`))
  const next = await createRun(app, { prompt: 'work' })
  await awaitEnd(app, next.id)
  expect(ofTool(await allLogs(app, next.id), 'setup_command')[0].tool_output.output).toBe('hello /setup')
})
