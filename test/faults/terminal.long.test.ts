import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { shellQuote } from '../../src/core/text/shell-quote.ts'
import { Database } from '../../src/store/database.ts'
import { waitUntil } from '../../src/system/processes.ts'
import { createTestDatabase } from '../database.ts'
import { no_reviews } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'
import { program_env } from '../system/program-env.ts'
import { root, smallClone, stampPackages } from '../system/small-clone.ts'
import { testFolder } from '../temporary-folder.ts'

const settings = {
  AGENTRUN_INIT_TOKEN: TOKEN,
  AGENTRUN_PORT: '0',
  AGENTRUN_SAMPLE: '1',
  AGENTRUN_SHUTDOWN_GRACE_SECONDS: '60',
  AGENTRUN_DRAIN_SECONDS: '0',
}

/**
 * The service with its supervisor, in a terminal of its own: what is written to its standard input is typed.
 */
function startInTerminal(clone: string, env: Record<string, string>) {
  mkdirSync(join(clone, 'src'))
  writeFileSync(join(clone, 'src/main.ts'), `await import(${JSON.stringify(join(root, 'src/main.ts'))})`)
  stampPackages(clone)
  // A shell between them would end with the signal, and its exit code is the one that counts.
  const supervisor = `exec /bin/bash ${shellQuote(join(clone, 'supervisor.sh'))}`
  const child = spawn('script', ['-qfec', supervisor, '/dev/null'], {
    env: { ...process.env, ...env },
    stdio: 'pipe',
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  return { child, ended: once(child, 'close'), output: () => output }
}

test('Ctrl-C in the terminal of the service interrupts no command: it ends, its outcome is recorded, and the service exits', async () => {
  await using database = await createTestDatabase()
  await using db = new Database(database.url, { max: 1, on_error: () => {} })
  using clone = smallClone('')
  const data = join(testFolder(), 'data')
  const env = {
    ...program_env,
    ...no_reviews,
    ...settings,
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: data,
  }
  const { child, ended, output } = startInTerminal(clone.path, env)
  try {
    expect(await waitUntil(() => output().includes('Start a run'), 60_000), output()).toBe(true)
    const address = /ready: +(\S+)/.exec(output())?.[1] ?? ''
    const command = 'echo >started; until [[ -e go ]]; do sleep 0.1; done; echo finished'
    const response = await fetch(`${address}/v1/organizations/1/agent/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'scripted/playbook',
        prompt: `\`\`\`playbook\n- run: ${JSON.stringify(command)}\n\`\`\``,
      }),
    })
    expect(response.status, await response.clone().text()).toBe(200)
    const started = () =>
      readdirSync(join(data, 'workspaces'), { recursive: true, encoding: 'utf8' }).find(path =>
        path.endsWith('/started'),
      )
    expect(await waitUntil(() => started() !== undefined, 30_000)).toBe(true)
    child.stdin.write('\x03')
    const isLeaving = async () => (await fetch(`${address}/readyz`).catch(() => null))?.status !== 200
    expect(await waitUntil(isLeaving, 20_000)).toBe(true)
    writeFileSync(join(data, 'workspaces', dirname(started() ?? ''), 'go'), '')
    expect(await ended).toEqual([0, null])
    const { rows } = await db.query<{ body: string }>({
      text: `select body from log_entries where tool_name = 'shell'`,
    })
    expect(rows.map(({ body }) => JSON.parse(body).tool_output)).toMatchObject([
      { status: 'ok', output: 'finished\n' },
    ])
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}, 180_000)
