import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect } from 'vitest'
import { type App, startApp } from '../start-app.ts'
import { program_env } from '../system/program-env.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const client = join(import.meta.dirname, '../../clients/python')
/** Debian's Python, which has Debian's httpx. */
const python = '/usr/bin/python3'
/**
 * Returns what runs a file of the client's own tests against a service of this file of tests; its output
 * explains a failure.
 */
export function pythonTests(): (module: string) => Promise<void> {
  const folder = temporaryFolder()
  let app: App
  let codegen_token: string
  beforeAll(async () => {
    app = await startApp({ AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
    const { body } = await app.call('POST', '/v1/organizations/1/tokens', {
      name: 'codegen',
      wire_profile: 'codegen',
    })
    codegen_token = body.token
  }, 60_000)
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  async function runPython(
    args: string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number; output: string }> {
    const child = spawn(python, args, {
      cwd: client,
      env: { ...program_env, PYTHONDONTWRITEBYTECODE: '1', HOME: folder.path, ...env },
    })
    child.stdin.end()
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { code, output: out + err }
  }

  return async module => {
    const { code, output } = await runPython(['-m', 'unittest', module], {
      PYTHONPATH: ['src', 'tests', '../python-codegen/src', '../python-codegen/tests']
        .map(name => join(client, name))
        .join(':'),
      AGENTRUN_URL: app.base_url,
      AGENTRUN_TOKEN: app.token,
      CODEGEN_TOKEN: codegen_token,
    })
    expect(code, output).toBe(0)
    expect(Number(/^Ran (\d+) tests?/m.exec(output)?.[1])).toBeGreaterThan(0)
  }
}
