// biome-ignore-all lint/suspicious/noExplicitAny: tests read responses of many shapes
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { type App, startApp } from '../start-app.ts'
import { servePlain, type TestServer } from './servers.ts'

const playbook = (...commands: string[]) =>
  `Play this.\n\n\`\`\`playbook\n${commands.map(run => `- run: ${JSON.stringify(run)}`).join('\n')}\n- answer: Done.\n\`\`\`\n`

let app: App
let server: TestServer
beforeAll(async () => {
  server = await servePlain((request, response) => response.end(`hello ${request.url}`))
  app = await startApp({ AGENTRUN_SAMPLE: '1', AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const set = async (level: 'organization' | 'repository', agent: unknown) => {
  const path = level === 'organization' ? '/egress' : `/repos/${app.repo_id}/egress`
  const response = await app.call('PUT', `/v1/organizations/${app.org_id}${path}`, { agent })
  expect(response.status).toBe(200)
}
const play = async (...commands: string[]) => {
  const { id } = await createRun(app, { prompt: playbook(...commands), model: 'scripted/playbook' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  const outputs = logs.filter(log => log.tool_name === 'shell').map(log => log.tool_output.output as string)
  return { run, logs, outputs, blocked: logs.filter(log => log.tool_name === 'egress_blocked') }
}
const url = () => `http://localhost:${server.port}`
const direct = () =>
  `env -u http_proxy curl --noproxy '' -sS -m 5 -x http://127.0.0.1:3128 -w ' %{http_code}' ${url()}/x 2>&1`

describe('what is allowed', () => {
  test('is off by default: every request is refused and is in the trace, with the rule and reason', async () => {
    const fetching = 'curl -sS https://evil.example/ 2>&1; curl -sS http://169.254.169.254/'
    const { run, outputs, blocked } = await play(fetching, `${direct()}; true`)
    expect(run.status).toBe('completed')
    expect(outputs[0]).toMatch(
      /^curl: \(56\) CONNECT tunnel failed, response 403\nBlocked .* private or reserved address/,
    )
    expect(outputs[1]).toMatch(
      /^Blocked on the way out of the sandbox: egress is off, so no rule allows localhost:\d+\.\n 403/,
    )
    expect(blocked.map(log => [log.tool_input, log.tool_output])).toEqual([
      [
        { host: 'evil.example', port: 443, method: 'CONNECT' },
        {
          status: 'error',
          reason: 'off',
          why: 'egress is off, so no rule allows evil.example:443',
          command: fetching,
        },
      ],
      [
        expect.objectContaining({ host: '169.254.169.254' }),
        expect.objectContaining({ reason: 'private_address' }),
      ],
      [
        expect.objectContaining({ host: 'localhost', port: server.port }),
        expect.objectContaining({ reason: 'off' }),
      ],
    ])
  })

  test('is nothing for Node’s own fetch too, which leaves an entry, and reaches what the sandbox serves itself', async () => {
    const fetching = `node -e 'fetch("https://evil.example/").catch(error => console.log(error.cause.message))' 2>&1`
    const serving = `require("http").createServer((_, answer) => answer.end("own")).listen(8124, async () => { for (const _ of "xx") console.log(await (await fetch("http://localhost:8124/")).text()); process.exit() })`
    const mocked = `globalThis.fetch = async () => "mine"; fetch().then(console.log)`
    const { outputs, blocked } = await play(fetching, `node -e '${serving}'`, `node -e '${mocked}'`)
    expect(outputs).toEqual([expect.any(String), 'own\nown\n', 'mine\n'])
    expect(blocked.map(log => [log.tool_input, log.tool_output])).toEqual([
      [
        { host: 'evil.example', port: 443, method: 'CONNECT' },
        expect.objectContaining({ reason: 'off', command: fetching }),
      ],
    ])
  })

  test('names of the sandbox itself bypass the proxy, so its own servers are reachable', async () => {
    const serving = `node -e 'require("http").createServer((_, a) => a.end("own ")).listen(8123, "0.0.0.0")' & until curl -s http://localhost:8123/; do sleep 0.1; done`
    const { outputs, blocked } = await play(
      `${serving}; for h in 127.0.0.1 127.0.0.2 0.0.0.0 sandbox; do curl -sS -m 5 http://$h:8123/; done; kill %1`,
    )
    expect(outputs).toEqual([expect.stringContaining('own '.repeat(5))])
    expect(blocked).toEqual([])
  })

  test('a host that is allowed later applies to a running run within moments', async () => {
    const again = `for i in $(seq 200); do ${direct()} >got; grep -a hello got && break; sleep 0.1; done`
    const { id } = await createRun(app, { prompt: playbook(again), model: 'scripted/playbook' })
    for (let reported = false; !reported; )
      reported = (await allLogs(app, id)).some(log => log.tool_output?.reason === 'off')
    const rule = { host: 'localhost', port: server.port }
    const allowed = await app.call(
      'POST',
      `/v1/organizations/${app.org_id}/repos/${app.repo_id}/egress/allow`,
      rule,
    )
    expect(allowed).toMatchObject({
      status: 200,
      body: { agent: { mode: 'allowlist', allow: [rule], presets: [] } },
    })
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
    expect((await allLogs(app, id)).find(log => log.tool_name === 'shell')?.tool_output.output).toBe(
      'hello /x 200\n',
    )
    await set('repository', {})
  })

  test('is the union of the rules of organization and repository, unless one of them is off', async () => {
    await set('organization', { mode: 'allowlist', allow: [{ host: 'localhost', port: server.port }] })
    expect((await play(direct())).outputs).toEqual(['hello /x 200'])
    await set('repository', { mode: 'off' })
    expect((await play(direct())).outputs).toEqual([expect.stringMatching(/egress is off.* 403$/s)])
    await set('organization', { mode: 'off' })
    await set('repository', { mode: 'allowlist', allow: [{ host: 'localhost', port: server.port }] })
    expect((await play(direct())).outputs).toEqual(['hello /x 200'])
    await set('repository', {})
  })

  test('changes during an active run, within moments', async () => {
    await set('organization', { mode: 'allowlist' })
    const again = `for i in $(seq 200); do ${direct()} >got; grep -a hello got && break; touch tried; sleep 0.1; done`
    const { id } = await createRun(app, { prompt: playbook(again), model: 'scripted/playbook' })
    // The trace reports it before it is allowed.
    for (let reported = false; !reported; )
      reported = (await allLogs(app, id)).some(log => log.tool_name === 'egress_blocked')
    const allowed = await app.call(
      'POST',
      `/v1/organizations/${app.org_id}/repos/${app.repo_id}/egress/allow`,
      {
        host: 'localhost',
        port: server.port,
      },
    )
    expect(allowed.status).toBe(200)
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
    expect((await allLogs(app, id)).find(log => log.tool_name === 'shell')?.tool_output.output).toBe(
      'hello /x 200\n',
    )
    await set('repository', {})
  })
})

describe('what is refused', () => {
  test('is in the trace with host, reason and command, once, and how often it was repeated before the answer', async () => {
    await set('organization', { mode: 'allowlist', allow: [{ host: 'read.example', methods: ['GET'] }] })
    const { logs, blocked } = await play(
      'for i in 1 2 3; do curl -sS https://evil.example/ 2>&1; done; true',
      'curl -sS -d x http://read.example/; curl -sS http://169.254.169.254/',
    )
    expect(blocked.map(log => [log.message_type, log.tool_input, log.tool_output])).toEqual([
      [
        'ACTION',
        { host: 'evil.example', port: 443, method: 'CONNECT' },
        {
          status: 'error',
          reason: 'not_allowed',
          why: 'no rule allows evil.example:443',
          command: 'for i in 1 2 3; do curl -sS https://evil.example/ 2>&1; done; true',
        },
      ],
      [
        'ACTION',
        { host: 'read.example', port: 80, method: 'POST' },
        expect.objectContaining({ reason: 'method' }),
      ],
      [
        'ACTION',
        { host: '169.254.169.254', port: 80, method: 'GET' },
        expect.objectContaining({ reason: 'private_address' }),
      ],
      [
        'ACTION',
        {},
        {
          status: 'error',
          reason: 'again',
          why: 'these were refused repeatedly in this turn',
          hosts: [{ host: 'evil.example', port: 443, reason: 'not_allowed', times: 3 }],
        },
      ],
    ])
    expect(logs.at(-1)).toMatchObject({ message_type: 'FINAL_ANSWER' })
  })

  test('does not flood the trace, regardless of the number of attempts', async () => {
    await set('organization', { mode: 'allowlist' })
    const end = ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'
    const define_send =
      'const send = text => new Promise(done => require("net").connect(3128, "127.0.0.1").on("close", done).resume().end(text))'
    const each = `await send("CONNECT n" + i + ".evil.example:443${end}"); await send("GET /" + i + "${end}")`
    const { blocked } = await play(
      `node -e '${define_send}; (async () => { for (let i = 0; i < 80; i++) { ${each} } })()'`,
    )
    expect(blocked).toHaveLength(51)
    expect(blocked.at(-1).tool_output).toMatchObject({ reason: 'again', others: expect.any(Number) })
  })

  test('is reported for a stopped run too', async () => {
    const { id } = await createRun(app, {
      prompt: playbook(
        'curl -s http://a.evil.example/; curl -s http://a.evil.example/; touch done; sleep 100',
      ),
      model: 'scripted/playbook',
    })
    for (let reported = false; !reported; )
      reported = (await allLogs(app, id)).some(log => log.tool_name === 'egress_blocked')
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
    expect(await awaitRun(app, id, run => run.terminal)).toMatchObject({ status: 'cancelled' })
  })
})

test('nothing is left of a proxy when its run has ended', async () => {
  const folder = join(app.data_dir, 'sandbox', 'sockets')
  expect(existsSync(folder)).toBe(true)
  expect(readdirSync(folder)).toEqual([])
})
