import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand } from '../../scripts/build-client.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { clone } from '../source-tree.ts'
import { type App, startApp } from '../start-app.ts'
import { program_env } from '../system/program-env.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Block, commandBlocks } from './documented-blocks.ts'

/**
 * Blocks that cannot run against a service that runs already, with the test that executes what they contain.
 */
const elsewhere: [block: RegExp, executed_by: string][] = [
  [/^(?:AGENTRUN_\w+=\S+ |ANTHROPIC_API_KEY=\S+ )*npm (?:start|test)\b/, 'test/system/restart.long.test.ts'],
  [/^git clone … && cd …\nnpm start/, 'test/system/restart.long.test.ts'],
  [/^npx agentrun-server/, 'test/system/server-package.long.test.ts'],
  [/^pip install/, 'test/client/python-package.long.test.ts'],
  [/^cd deploy\/compose/, 'test/deploy/image.long.test.ts'],
  [/^npm install --prefix \/srv\/agents/, 'test/agents/real-agents.long.test.ts'],
  [/"agent_type": "opencode"/, 'test/agents/real-agents.long.test.ts'],
  // On a cluster and on an installed machine.
  [/^kubectl create token/, 'test/sandbox/kubernetes/kubernetes.long.test.ts'],
  [/^deploy\/systemd\/install\.sh/, 'test/deploy/image.long.test.ts'],
]
/** Commands whose other side does not exist here; their failure is what a user would see. */
const refused: [line: RegExp, reason: RegExp][] = [
  [/^agentrun integrations connect/, /the host has no address|cannot be reached|resolve/],
]

const folder = temporaryFolder()
let app: App

beforeAll(async () => {
  app = await startApp({ AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
  await app.call('PATCH', `/v1/organizations/1/repos/${app.repo_id}`, { name: 'web' })
  // The pages name runs up to 12, a sandbox and a pull request.
  const prompt =
    'Play.\n\n```playbook\n- write: { path: NOTES.md, content: "Checked.\\n" }\n- run: cat NOTES.md\n- answer: Done.\n```'
  for (let n = 0; n < 12; n++) await awaitEnd(app, (await createRun(app, { prompt })).id)
  await buildCommand(folder.path)
  writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const files = {
    'token.txt': 'ghp_of_nobody\n',
    'release.txt': '---\nname: release\ndescription: How to release\n---\nTag it.\n',
    'app.private-key.pem': privateKey.export({ type: 'pkcs1', format: 'pem' }),
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder.path, name), content)
}, 180_000)
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** The block as a person pastes it, with the command line as it was built and the address of this service. */
async function paste({ text: block }: Block): Promise<{ code: number; output: string }> {
  const script = `set -eo pipefail
agentrun() { if [ "$1" = admin ]; then shift; (cd ${clone} && ${process.execPath} src/admin.ts "$@"); else ${process.execPath} ${folder.path}/cli.js "$@"; fi; }
# 23: its reader, such as head, has what it wanted.
curl() { command curl --fail-with-body --max-time 20 "$@" || { code=$?; [ $code -eq 23 ] || return $code; }; }
${block.replaceAll('./agentrun', 'agentrun').replaceAll('http://127.0.0.1:4600', app.base_url).replaceAll('127.0.0.1:4600', new URL(app.base_url).host)}`
  const child = spawn('bash', ['-c', script], {
    cwd: folder.path,
    env: {
      ...program_env,
      HOME: folder.path,
      AGENTRUN_URL: app.base_url,
      AGENTRUN_TOKEN: app.token,
      DATABASE_URL: app.database_url,
      AGENTRUN_DATA_DIR: app.data_dir,
    },
    stdio: 'pipe',
  })
  // What a command reads: `login` a token.
  child.stdin.on('error', () => {}).end(`${app.token}\n`)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, output: out + err }
}

test('every block of commands in the documentation works when it is pasted, or is executed by another test', async () => {
  const failures: string[] = []
  const blocks = commandBlocks()
  expect(blocks.length).toBeGreaterThan(40)
  for (const block of blocks) {
    const other = elsewhere.find(([pattern]) => pattern.test(block.text))
    if (other !== undefined) expect(existsSync(join(clone, other[1])), other[1]).toBe(true)
    else {
      // Each block is pasted with the repository that works, whatever another page made the default or
      // prepares it with.
      await app.call('PATCH', `/v1/organizations/1/repos/${app.repo_id}`, { is_default: true })
      await app.call('PUT', `/v1/organizations/1/repos/${app.repo_id}/setup-commands`, { commands: [] })
      const { code, output } = await paste(block)
      const known = refused.find(([line]) => line.test(block.text))
      if (known === undefined ? code !== 0 : code === 0 || !known[1].test(output))
        failures.push(`${block.page}\n${block.text}ended with ${code}: ${output.slice(-600)}`)
    }
  }
  expect(failures.join('\n\n')).toBe('')
}, 600_000)
