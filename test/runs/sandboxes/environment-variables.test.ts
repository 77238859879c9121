// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CheckedApp, startCheckedApp } from '../checks/checked-app.ts'
import { calls, shell } from '../coding-app.ts'

let app: CheckedApp
beforeAll(async () => {
  app = await startCheckedApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const set = (path: string, value: string) =>
  app.call('PUT', app.at(`${path}/secrets/NAME`.replace('NAME', value.split('=')[0] ?? '')), {
    value: value.slice(value.indexOf('=') + 1),
    for_agent: true,
  })

/** The outputs of commands of an agent that changes a file, and of the check that follows. */
async function run(...commands: string[]) {
  await app.checkBy({ environment: 'printf "1 %%\\r2 %%\\r\\033[K"; echo "check: [$CI] [$NODE_OPTIONS]"' })
  app.script = [
    ...commands.map(command => calls(shell(`date +%N >>count.js; ${command}`))),
    { text: 'Done.' },
  ]
  const { run: ended, logs, checks } = await app.seen(await app.start())
  expect(ended.status, JSON.stringify(logs.slice(-2))).toBe('completed')
  return {
    outputs: logs.filter((log: any) => log.tool_name === 'shell').map((log: any) => log.tool_output.output),
    blocked: logs
      .filter((log: any) => log.tool_name === 'egress_blocked')
      .map((log: any) => log.tool_input.host),
    checked: checks.map((check: any) => check.tool_output.output),
  }
}

test('agents have neither CI nor NODE_OPTIONS, so Node starts with its permission model; checks have CI', async () => {
  const permission = 'cd /workspace && node --permission --allow-fs-read=/workspace -e "console.log(1 + 1)"'
  const { outputs, checked } = await run('printenv CI NODE_OPTIONS || echo "agent: neither"', permission)
  expect(outputs).toEqual(['agent: neither\n', '2\n'])
  expect(checked).toEqual(['check: [true] []\n'])
})

test('a script that sets its own NODE_OPTIONS keeps the proxy: what is refused is in the trace', async () => {
  const request = 'fetch("https://evil.example/").catch(() => console.log("refused"))'
  const http = 'require("http").get("http://other.example/", answer => console.log(answer.statusCode))'
  const { outputs, blocked } = await run(
    `NODE_OPTIONS=--stack-trace-limit=5 node -e '${request}'`,
    `node -e '${http}'`,
  )
  expect(outputs).toEqual(['refused\n', '403\n'])
  expect(blocked).toEqual(['evil.example', 'other.example'])
})

test('both can be set for agents and checks by a secret of the organization or the repository, and are not redacted', async () => {
  expect((await set('', 'CI=1')).status).toBe(200)
  expect((await set(`/repos/${app.repo_id}`, 'NODE_OPTIONS=--stack-trace-limit=7')).status).toBe(200)
  const { outputs, checked } = await run(
    'echo "agent: [$CI] [$NODE_OPTIONS]"',
    'node -p Error.stackTraceLimit',
  )
  expect(outputs).toEqual(['agent: [1] [--stack-trace-limit=7]\n', '7\n'])
  expect(checked).toEqual(['check: [1] [--stack-trace-limit=7]\n'])
})
