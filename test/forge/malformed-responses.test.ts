import { expect, test } from 'vitest'
import { giteaForge } from '../../src/forge/gitea/gitea.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { startFakeGitea } from './fake-gitea.ts'
import { startFakeGitHub } from './fake-github.ts'
import { fill, type Path, ReplayedForge, repo } from './replayed-forge.ts'

const OPTIONAL = ['merged_at', 'merge_commit_sha', 'title', 'body', 'draft', 'mergeable', 'html_url']

/** Reads pull request 100 with one field of the response removed, or of another type. */
async function readPull(replay: ReplayedForge, forge: RemoteForge, path: Path, value: unknown) {
  const at = [...replay.kept.keys()].find(name => /^GET .*\/pulls\/100$/.test(name)) ?? 'none'
  replay.damage = { at, path, value }
  return forge.getPullRequest(repo, 100)
}

async function expectLenient(name: string, replay: ReplayedForge, forge: RemoteForge) {
  const whole = await forge.getPullRequest(repo, 100)
  for (const field of OPTIONAL)
    for (const value of [undefined, null, 7, {}]) {
      const read = await readPull(replay, forge, [field], value)
      expect(read, field).toMatchObject({
        number: 100,
        state: 'open',
        head_sha: whole.head_sha,
        merged_at: null,
      })
    }
  for (const [path, field] of [
    [['number'], 'number'],
    [['state'], 'state'],
  ] as const)
    await expect(readPull(replay, forge, [...path], undefined)).rejects.toMatchObject({
      code: 'answer',
      message: expect.stringContaining(`${name}'s response cannot be read: ${field}: `),
    })
  await expect(readPull(replay, forge, [], 'a page')).rejects.toMatchObject({
    code: 'answer',
    message: expect.stringContaining(name),
  })
}

/** Merges pull request 100, and reads it with only some of the fields that report the merge. */
async function expectMerged(replay: ReplayedForge, forge: RemoteForge) {
  replay.damage = null
  const { head_sha } = await forge.getPullRequest(repo, 100)
  replay.kept.clear()
  const { merge_sha } = await forge.mergePullRequest(repo, 100, { method: 'merge', head_sha, message: 'x' })
  replay.kept.clear()
  const merged = { state: 'merged', merge_sha, merged_at: expect.any(Date) }
  expect(await forge.getPullRequest(repo, 100)).toMatchObject(merged)
  for (const field of ['merged', 'merged_at', 'closed_at'])
    for (const value of [undefined, null, 7])
      expect(await readPull(replay, forge, [field], value), field).toMatchObject(merged)
}

test('a pull request of GitHub is read without the fields that it may lack, and otherwise the error names the field', async () => {
  await using github = await startFakeGitHub()
  const replay = new ReplayedForge()
  const settings = {
    origin: github.url,
    fetch: replay.fetch,
    user_agent: 'agentrun/test',
    credentials: { token: github.token },
  }
  const forge = githubForge(settings)
  await fill(github.folder, github.state, forge)
  await expectLenient('GitHub', replay, forge)
  await expect(readPull(replay, forge, ['head', 'sha'], null)).rejects.toMatchObject({
    message: expect.stringContaining("GitHub's response cannot be read: head.sha: "),
  })
  await expectMerged(replay, forge)
})

test('a pull request of Gitea is read without the fields that it may lack, and otherwise the error names the field', async () => {
  await using gitea = await startFakeGitea()
  const replay = new ReplayedForge()
  const forge = giteaForge({
    url: gitea.url,
    token: gitea.token,
    fetch: replay.fetch,
    user_agent: 'agentrun/test',
  })
  await fill(gitea.folder, gitea.state, forge)
  await expectLenient('Gitea', replay, forge)
  await expectMerged(replay, forge)
})
