import type { z } from 'zod'
import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { readResponse } from '../read-response.ts'
import type { GitHubClient } from './client.ts'
import { graphqlData } from './failure.ts'
import { EditedTexts } from './shapes.ts'

const BATCH = 100
const QUERY = 'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment { publishedAt lastEditedAt } } }'

type Node = z.output<typeof EditedTexts>['nodes'][number]

/**
 * Returns the texts that were not edited after they were published, or after `at` if that is later. Only
 * GraphQL reports edits: the REST API has the time of any change, which for a review comment includes the
 * submission of its review. Deleted texts are left out.
 */
export async function unedited<T extends { node_id: string; at: Date }>(
  client: GitHubClient,
  repo: ForgeRepository,
  texts: T[],
): Promise<T[]> {
  const found: T[] = []
  for (let i = 0; i < texts.length; i += BATCH) {
    const some = texts.slice(i, i + BATCH)
    const ids = some.map(({ node_id }) => node_id)
    const data = await client.on(repo, octokit => graphqlData(octokit.graphql<object>(QUERY, { ids })))
    const { nodes } = readResponse('GitHub', EditedTexts, data)
    found.push(...some.filter((text, n) => isAsPublished(nodes[n] ?? null, text.at)))
  }
  return found
}

const isAsPublished = (node: Node, at: Date): boolean => {
  if (node === null || node.lastEditedAt === null) return node !== null
  return node.lastEditedAt.getTime() <= Math.max(at.getTime(), node.publishedAt?.getTime() ?? 0)
}
