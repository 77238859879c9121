import { z } from 'zod'
import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { clockOf } from '../clock.ts'
import type { RemoteChanges, RemoteSubject } from '../port.ts'
import { readResponse } from '../read-response.ts'
import type { GitHubClient } from './client.ts'
import { hasNext, PER_PAGE } from './pages.ts'
import { Subject } from './shapes.ts'

const remoteSubject = (row: Subject): RemoteSubject => ({
  number: row.number,
  is_pull_request: row.pull_request != null,
  url: row.html_url,
  title: row.title,
  body: row.body,
  author: row.user?.login ?? '',
  is_bot: row.user?.type !== 'User' || row.performed_via_github_app != null,
  author_association: row.author_association,
  comments: row.comments,
  created_at: row.created_at,
  changed_at: row.updated_at,
  labels: row.labels,
})

/**
 * Returns one page, and more while they are of the same second as `since`. Changes during the listing move
 * items to the end, so that further pages would skip some: the caller continues with `through` as the next
 * `since` instead.
 */
export async function listChanged(
  client: GitHubClient,
  { owner, name }: ForgeRepository,
  since: Date,
): Promise<RemoteChanges> {
  const subjects: RemoteSubject[] = []
  let clock: Date | null = null
  const from = {
    owner,
    repo: name,
    state: 'all',
    sort: 'updated',
    direction: 'asc',
    since: since.toISOString(),
  } as const
  for (let page = 1; ; page++) {
    const { data, headers } = await client.on({ owner, name }, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/issues', { ...from, per_page: PER_PAGE, page }),
    )
    subjects.push(...readResponse('GitHub', z.array(Subject), data).map(remoteSubject))
    clock ??= clockOf(headers.date)
    const last = subjects.at(-1)
    if (!hasNext(headers) || last === undefined) return { subjects, through: null, clock }
    if (last.changed_at > since) return { subjects, through: last.changed_at, clock }
  }
}

/**
 * Returns the issue or pull request of a number. Throws ForgeError, with code `not_found` when there is none.
 */
export async function getSubject(
  client: GitHubClient,
  { owner, name }: ForgeRepository,
  number: number,
): Promise<RemoteSubject> {
  const { data } = await client.on({ owner, name }, octokit =>
    octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', {
      owner,
      repo: name,
      issue_number: number,
    }),
  )
  return remoteSubject(readResponse('GitHub', Subject, data))
}
