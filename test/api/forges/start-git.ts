import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach } from 'vitest'
import { startForgeApp } from '../repositories/proposals.ts'
import { gitClient } from './git-client.ts'

/** The service on a repository and the git of a person, for all tests of a file. */
export async function startGit(env: Record<string, string> = {}) {
  const app = await startForgeApp(env)
  const client = gitClient(app)
  afterAll(async () => {
    client[Symbol.dispose]()
    await app[Symbol.asyncDispose]()
  })
  return { app, client, mirror: join(app.data_dir, 'mirrors', `${app.repo_id}.git`) }
}

/** The limit of bytes of a push. */
export const PUSH_MAX_BYTES = 4 * 1024 ** 2

/** The same with a clone for each test, and the commands of a person in it. */
export async function startPushes() {
  const { app, client, mirror } = await startGit({ AGENTRUN_PUSH_MAX_BYTES: String(PUSH_MAX_BYTES) })
  let count = 0
  const clone = {
    /** Its name below the client's folder; a test may switch to another one. */
    name: '',
    git: (...args: string[]) => client.ok(clone.name, ...args),
    push: (...args: string[]) => client.at(clone.name, 'push', ...args),
    /** Commits files. The SHA of the commit. */
    async commit(files: Record<string, string | Uint8Array>): Promise<string> {
      for (const [name, content] of Object.entries(files))
        writeFileSync(join(client.folder, clone.name, name), content)
      await clone.git('add', '--all')
      await clone.git('commit', '--quiet', '--allow-empty', '-m', `change ${count}`)
      return clone.git('rev-parse', 'HEAD')
    },
  }
  beforeEach(async () => {
    clone.name = `work-${++count}`
    await client.ok('.', 'clone', '--quiet', client.address(), clone.name)
  })
  return {
    app,
    client,
    mirror,
    clone,
    at: (ref: string) => app.git('for-each-ref', '--format=%(objectname)', ref),
  }
}
