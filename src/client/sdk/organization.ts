import { AgentRunError } from './error.ts'
import type { Result } from './operations.ts'

/**
 * Returns the organization of a client that names none: the only one of its token, requested once. Rejects
 * with AgentRunError when there is none or several.
 */
export function onlyOrganization(list: () => Promise<Result<'listOrganizations'>>): () => Promise<number> {
  let organization: Promise<number> | null = null
  const findOnly = async () => {
    const { items, total } = await list().catch(error => Promise.reject(hinted(error)))
    const [first] = items
    if (first !== undefined && total === 1) return first.id
    const which = items.map(({ id, name }) => `${id} (${name})`).join(', ')
    const detail =
      total === 0
        ? 'The token belongs to no organization.'
        : `The token belongs to ${total} organizations, choose one: ${which}`
    throw new AgentRunError({ status: 0, code: 'organization_needed', detail })
  }
  return () => {
    organization ??= findOnly().catch(error => {
      organization = null
      throw error
    })
    return organization
  }
}

/** A token that may not list organizations can still be used with the id of one. */
function hinted(error: unknown): unknown {
  if (!(error instanceof AgentRunError) || error.status !== 403) return error
  const { status, code, errors, request_id, problem } = error
  return new AgentRunError({
    status,
    code,
    errors,
    request_id,
    problem,
    detail: `${error.detail} Name the organization, so that no lookup is needed.`,
  })
}
