import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import type { GitHubClient } from './client.ts'
import { graphqlData } from './failure.ts'

const AT_ONCE = 100
const QUERY = 'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment { publishedAt lastEditedAt } } }'

type Node = { publishedAt: string | null; lastEditedAt: string | null } | null

/**
 * Which of these texts are as they were when they were published, by the numbers that GraphQL has for them: it alone says so, since an issue
 * changes by whatever happens to it, and a remark when its review is sent. `at`: no later than that. What is gone is none.
 */
export async function unedited<T extends { node_id: string; at: Date }>(
  client: GitHubClient,
  repo: ForgeRepository,
  texts: T[],
): Promise<T[]> {
  const found: T[] = []
  for (let i = 0; i < texts.length; i += AT_ONCE) {
    const some = texts.slice(i, i + AT_ONCE)
    const ids = some.map(({ node_id }) => node_id)
    const { nodes } = await client.on(repo, octokit => graphqlData(octokit.graphql<{ nodes: Node[] }>(QUERY, { ids })))
    found.push(...some.filter((text, n) => isAsPublished(nodes[n] ?? null, text.at)))
  }
  return found
}

const isAsPublished = (node: Node, at: Date): boolean => {
  if (node === null || node.lastEditedAt === null) return node !== null
  return new Date(node.lastEditedAt).getTime() <= Math.max(at.getTime(), Date.parse(node.publishedAt ?? '') || 0)
}
