import { afterEach, beforeEach, expect } from 'vitest'
import { outgoingFetch } from '../../src/egress/fetch.ts'
import { createResolver } from '../../src/egress/resolve.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { gitIn } from '../runs/coding-app.ts'
import { type FakeGitHub, startFakeGitHub } from './fake-github.ts'

export const repo = { owner: 'acme', name: 'app' }
export const pull = { title: 'One', body: 'words', head_branch: 'one', base_branch: 'main', draft: false }
export const outgoing = { resolve: createResolver(), allow_private: true, upstream: null }
const fetch = outgoingFetch(outgoing, { ms: 5_000, max_bytes: 8 * 1024 ** 2 })

/**
 * A GitHub of its own for each test of the calling file, with the branches `one` and `two`; a request that
 * GitHub would not know fails the test.
 */
export function githubForEachTest() {
  let github: FakeGitHub
  beforeEach(async () => {
    github = await startFakeGitHub()
    const main = gitIn(github.folder, 'rev-parse', 'main').trim()
    const tree = gitIn(github.folder, 'rev-parse', 'main^{tree}').trim()
    for (const name of ['one', 'two']) {
      const sha = gitIn(github.folder, 'commit-tree', tree, '-p', main, '-m', name).trim()
      gitIn(github.folder, 'update-ref', `refs/heads/${name}`, sha)
    }
  })
  afterEach(async () => {
    expect(github.mistakes).toEqual([])
    await github[Symbol.asyncDispose]()
  })
  const settings = () => ({ origin: github.url, fetch, user_agent: 'agentrun/test' })
  return {
    fake: () => github,
    settings,
    byToken: (): RemoteForge => githubForge({ ...settings(), credentials: { token: github.token } }),
    byApp: (): RemoteForge =>
      githubForge({
        ...settings(),
        credentials: { app_id: github.app.id, private_key: github.app.private_key, installation_id: null },
      }),
  }
}
