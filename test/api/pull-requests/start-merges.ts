import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach } from 'vitest'
import { rows } from '../../start-app.ts'
import { startForgeApp } from '../repositories/proposals.ts'

/** The service on a repository, for all tests of a file, and shared operations to merge pull requests. */
export async function startMerges() {
  const app = await startForgeApp({
    AGENTRUN_COMMIT_AUTHOR_NAME: 'Robot',
    AGENTRUN_COMMIT_AUTHOR_EMAIL: 'robot@example.org',
    AGENTRUN_COMMIT_TRAILER: 'Run',
    AGENTRUN_ALLOW_PRIVATE_GIT: '1',
  })
  afterAll(() => app[Symbol.asyncDispose]())
  const hook = join(app.remote, 'hooks/pre-receive')
  beforeEach(() => rmSync(hook, { force: true }))
  const path = (id: number) => `/v1/organizations/${app.org_id}/prs/${id}`
  let n = 0
  return {
    app,
    get: async (id: number) => (await app.call('GET', path(id))).body,
    merge: (id: number, body?: unknown) => app.call('POST', `${path(id)}/merge`, body),
    edit: (id: number, state: string) => app.call('PATCH', path(id), { state }),
    main: () => app.git('rev-parse', 'main'),
    audits: (id: number) =>
      rows<{ action: string; detail: string }>(
        app,
        `select action, detail from audit_entries where target_id = $1 order by id`,
        [String(id)],
      ),
    /** A file that no other change touches. */
    own: () => `own-${++n}.txt`,
    /** What the remote does before it accepts a push, in one test. */
    addHook: (script: string) => writeFileSync(hook, `#!/bin/sh\n${script}\n`, { mode: 0o755 }),
    removeHook: () => rmSync(hook),
  }
}
