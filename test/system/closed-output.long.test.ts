import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findOrphan } from '../../src/postgres/leftover.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { program_env } from './program-env.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

test('a service whose output is no longer read still shuts down gracefully, with its database', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const env = { ...program_env, AGENTRUN_DATA_DIR: data, AGENTRUN_PORT: '0' }
  const service = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(service, 'exit')
  try {
    let text = ''
    await new Promise<void>((resolve, reject) => {
      service.stdout.on('data', chunk => {
        text += chunk
        if (text.includes('Start a run')) resolve()
      })
      ended.then(([code]) => reject(new Error(`ended with ${code} before it was ready`)))
    })
    service.stdout.destroy()
    service.stderr.destroy()
    service.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(findOrphan(join(data, 'postgres/cluster'))).toBeNull()
  } finally {
    service.kill('SIGKILL')
  }
})
