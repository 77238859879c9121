import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import type { GitHubClient } from './client.ts'
import { allPages } from './pages.ts'
import { Status } from './shapes.ts'

/**
 * Returns all statuses of a commit, newest first. The combined status, which has only the newest of each,
 * does not name their creators.
 */
export const listStatuses = (client: GitHubClient, repo: ForgeRepository, sha: string) =>
  allPages({ shape: Status }, page =>
    client.on(repo, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/statuses', {
        owner: repo.owner,
        repo: repo.name,
        ref: sha,
        ...page,
      }),
    ),
  )

/** Contexts are case-insensitive. */
export function newestOfEach<T extends { context: string }>(statuses: readonly T[]): T[] {
  const newest = new Map<string, T>()
  for (const status of statuses) {
    const context = status.context.toLowerCase()
    if (!newest.has(context)) newest.set(context, status)
  }
  return [...newest.values()]
}
