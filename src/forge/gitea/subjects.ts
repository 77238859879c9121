import type { RemoteChanges, RemoteSubject } from '../port.ts'
import { type GiteaClient, MAX_PAGES } from './client.ts'
import { Issue } from './shapes.ts'

const remoteSubject = (row: Issue): RemoteSubject => ({
  number: row.number,
  is_pull_request: row.pull_request != null,
  url: row.html_url,
  title: row.title,
  body: row.body,
  author: row.user?.login ?? '',
  is_bot: (row.user?.id ?? 0) < 1,
  author_association: '',
  comments: row.comments,
  created_at: row.created_at,
  changed_at: row.updated_at,
  labels: row.labels.map(({ name }) => name),
})

/**
 * Returns the issues and pull requests that changed since a time. Gitea lists them by their creation, so all
 * are read before the first is known. When they are too many, those of the first half of the time are read,
 * and so on.
 */
export async function listChanged(
  client: GiteaClient,
  at: string,
  since: Date,
  before: Date | null = null,
): Promise<RemoteChanges> {
  const subjects: RemoteSubject[] = []
  let pages = 0
  let clock: Date | null = null
  const query = { state: 'all', since: since.toISOString(), ...(before && { before: before.toISOString() }) }
  for await (const page of client.pages(Issue, `${at}/issues`, query)) {
    clock ??= client.clock
    subjects.push(...page.map(remoteSubject))
    pages++
  }
  clock ??= client.clock
  const half = new Date((since.getTime() + (before ?? clock ?? new Date()).getTime()) / 2)
  if (pages === MAX_PAGES && half.getTime() - since.getTime() > 1_000)
    return listChanged(client, at, since, half)
  return {
    subjects: subjects.sort((a, b) => a.changed_at.getTime() - b.changed_at.getTime()),
    through: before,
    clock,
  }
}

export const getSubject = async (client: GiteaClient, at: string, number: number): Promise<RemoteSubject> =>
  remoteSubject(await client.get(Issue, `${at}/issues/${number}`))
