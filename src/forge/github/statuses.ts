import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'

/** All that was ever said of a commit by statuses, the newest first: the list that has the newest alone does not say who said it. */
export const listStatuses = (client: GitHubClient, repo: ForgeRepository, sha: string) =>
  allPages(page =>
    client.on(repo, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', { owner: repo.owner, repo: repo.name, ref: sha, ...page }),
    ),
  )

/** GitHub tells contexts apart without regard to case. */
export function newestOfEach<T extends { context: string }>(statuses: readonly T[]): T[] {
  const newest = new Map<string, T>()
  for (const status of statuses) {
    const context = status.context.toLowerCase()
    if (!newest.has(context)) newest.set(context, status)
  }
  return [...newest.values()]
}
