import { join } from 'node:path'
import type { GitRepository } from '../../src/git/git-repository.ts'
import { refreshMirror } from '../../src/git/mirrors/mirrors.ts'
import { createMerge, fetchBranches, type MergeInput } from '../../src/git/publish/merge.ts'
import {
  commitFiles,
  type GitFixture,
  localRepository,
  makeBare,
  makeRepository,
  openGitFixture,
  run,
  runText,
} from './repositories.ts'

export const author = { name: 'Agent Ümlaut', email: 'agent@example.org' }

export type Ready = AsyncDisposable & {
  fixture: GitFixture
  repo: GitRepository
  remote: string
  /** Somebody's clone of the remote, with a work tree. */
  work: string
  /** Commits files on a branch, created from `from` if it is new, and pushes it. */
  put(branch: string, files: Record<string, string>, from?: string): Promise<string>
  fetch(head?: string): Promise<{ base_sha: string; head_sha: string }>
  merge(input?: Partial<MergeInput>): ReturnType<typeof createMerge>
  git(...args: string[]): Promise<string>
}

/** A bare remote with `main`, and a mirror of it. */
export async function ready(
  files: Record<string, string> = { 'a.txt': 'a\n', 'b.txt': 'b\n' },
): Promise<Ready> {
  const fixture = await openGitFixture()
  const work = await makeRepository(join(fixture.dir, 'work'), files)
  const remote = await makeBare(join(fixture.dir, 'remote.git'), work)
  await run(work, 'git', ['remote', 'add', 'origin', remote])
  const repo = localRepository(remote)
  await refreshMirror(fixture.host, repo)
  const fetch = async (head = 'topic') => {
    const { base_sha, head_sha } = await fetchBranches(fixture.host, repo, { base: 'main', head }, 30_000)
    if (base_sha === null || head_sha === null) throw new Error('a branch is missing')
    return { base_sha, head_sha }
  }
  return {
    fixture,
    repo,
    remote,
    work,
    fetch,
    async put(branch, files, from = 'main') {
      const known = await runText(work, 'git', ['branch', '--list', branch])
      await run(work, 'git', known ? ['checkout', '-q', branch] : ['checkout', '-q', '-b', branch, from])
      const sha = await commitFiles(work, `change ${branch}`, files)
      await run(work, 'git', ['push', '-q', 'origin', branch])
      return sha
    },
    merge: async (input = {}) =>
      createMerge(fixture.host, repo.id, {
        ...(await fetch()),
        method: 'merge',
        message: 'Merge it\n',
        author,
        ...input,
      }),
    git: (...args) => runText(remote, 'git', args),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

export function made(merged: Awaited<ReturnType<typeof createMerge>>): string {
  if (merged.kind !== 'made') throw new Error(JSON.stringify(merged))
  return merged.sha
}
