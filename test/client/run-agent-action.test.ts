import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildCommand } from '../../scripts/build-client.ts'
import { type App, startApp } from '../start-app.ts'
import { program_env } from '../system/program-env.ts'
import { temporaryFolder } from '../temporary-folder.ts'

type Action = {
  inputs: Record<string, { default?: string; required?: boolean }>
  outputs: Record<string, { value: string }>
  runs: { steps: { run: string; env: Record<string, string> }[] }
}
const path = join(import.meta.dirname, '../../actions/run-agent')
const action: Action = parse(readFileSync(join(path, 'action.yml'), 'utf8'))
const [step] = action.runs.steps
const folder = temporaryFolder()
const bin = join(folder.path, 'bin')

let app: App
beforeAll(async () => {
  app = await startApp()
  mkdirSync(bin)
  await buildCommand(bin)
  writeFileSync(join(bin, 'package.json'), '{"type":"module"}')
  writeFileSync(join(bin, 'agentrun'), `#!/bin/sh\nexec ${process.execPath} ${join(bin, 'cli.js')} "$@"\n`)
  chmodSync(join(bin, 'agentrun'), 0o755)
}, 60_000)
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** Runs the step as GitHub's runner does: inputs become variables, outputs are read from a file. */
async function runAction(inputs: Record<string, string>, onStart: (child: ChildProcess) => void = () => {}) {
  const output_file = join(folder.path, 'output')
  writeFileSync(output_file, '')
  const input = (name: string) => inputs[name] ?? action.inputs[name]?.default ?? ''
  const env = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ inputs\.(\w+) \}\}/, (_match, key) => input(key)),
    ]),
  )
  const child = spawn('bash', ['-c', step?.run ?? ''], {
    env: {
      ...program_env,
      PATH: `${bin}:${program_env.PATH}`,
      ...env,
      HOME: folder.path,
      GITHUB_ACTION_PATH: path,
      GITHUB_OUTPUT: output_file,
    },
  })
  onStart(child)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const outputs: Record<string, string> = {}
  for (const [, name = '', , value = ''] of readFileSync(output_file, 'utf8').matchAll(
    /^(\w+)<<(\w+)\n([\s\S]*?)\n\2$/gm,
  ))
    outputs[name] = value
  return { code, out, err, outputs }
}

const playbook = (...steps: string[]) =>
  `Play.\n\n\`\`\`playbook\n${steps.map(item => `- ${item}\n`).join('')}\`\`\``

test('the action starts a run, prints its steps and sets every output', async () => {
  const prompt = playbook(
    'write: { path: NOTES.md, content: "Checked.\\n" }',
    'answer: "Two lines.\\n::error::of an answer"',
  )
  const { code, out, outputs } = await runAction({
    url: app.base_url,
    token: app.token,
    prompt,
    repository: '1',
    base: 'main',
  })
  expect(code, out).toBe(0)
  expect(Object.keys(outputs).sort()).toEqual(Object.keys(action.outputs).sort())
  expect(outputs).toMatchObject({ status: 'completed', result: 'Two lines.\n::error::of an answer' })
  expect(outputs.web_url).toBe(`${app.base_url}/agent/trace/${outputs.id}`)
  expect(outputs.pull_request_url).toContain(app.base_url)
  expect(out).toMatch(/^\d+ ACTION write$/m)
  // A line with the answer would be a command to the runner.
  expect(out).not.toMatch(/^::/m)
})

test('a run that fails fails the step, with its outputs', async () => {
  const { code, outputs } = await runAction({
    url: app.base_url,
    token: app.token,
    prompt: playbook('run: exit 3', 'answer: Done.'),
  })
  expect(code).toBe(1)
  expect(outputs).toMatchObject({ status: 'failed', pull_request_url: '' })
})

test('a workflow that is cancelled stops its run and gets its outputs', async () => {
  const prompt = playbook('run: sleep 600', 'answer: Done.')
  const { code, outputs } = await runAction({ url: app.base_url, token: app.token, prompt }, child => {
    // The name of a step is printed when the run is in progress.
    child.stdout?.once('data', () => child.kill('SIGINT'))
  })
  expect(code).toBe(130)
  expect(outputs).toMatchObject({ status: 'cancelled', pull_request_url: '' })
})

test('a refused create fails the step with its reason and sets no output', async () => {
  const wrong_token = await runAction({ url: app.base_url, token: 'arun_none', prompt: 'x' })
  expect(wrong_token).toMatchObject({ code: 4, outputs: {} })
  const wrong_repository = await runAction({
    url: app.base_url,
    token: app.token,
    prompt: 'x',
    repository: '424242',
  })
  expect(wrong_repository).toMatchObject({ code: 1, outputs: {}, err: expect.stringContaining('epository') })
})

test('the action uses the client of its own version', () => {
  const { version } = JSON.parse(readFileSync(join(path, '../../package.json'), 'utf8'))
  expect(action.inputs.version?.default).toBe(version)
})
