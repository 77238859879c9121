import type { Endpoint } from '../../contract/endpoint.ts'
import { namedIn, type ReachedKind, reachOf } from '../../core/access/reach.ts'
import { ServiceError } from '../../core/service-error.ts'
import { repositoryOf } from '../../store/access/reach.ts'
import type { ActorContext, Context } from '../context.ts'

/** The messages that the verbs use for a resource that does not exist. */
const missing: Record<ReachedKind, string> = {
  repository: 'Repository not found.',
  run: 'Agent run not found.',
  pull_request: 'Pull request not found.',
  artifact: 'Artifact not found.',
  sandbox: 'Sandbox not found.',
}

/**
 * Restricts a token that is bound to repositories to these (specification.md#access): resources of other
 * repositories are 404 as if they did not exist, and operations that do not concern a repository are 403.
 */
export async function requireReach(
  ctx: ActorContext & Partial<Context>,
  endpoint: Endpoint,
  input: { params: unknown; query: unknown; body: unknown },
): Promise<void> {
  const own = ctx.actor.repository_ids
  if (own === null) return
  const { organization_id } = ctx
  const reach = reachOf(endpoint)
  if (reach === 'verb') return
  const named = namedIn(input)
  if (reach === 'none' || (reach === 'named' && (named.length === 0 || organization_id === undefined)))
    throw new ServiceError(
      'forbidden',
      'This token is bound to repositories, and this operation is not limited to them.',
    )
  for (const { kind, id } of named) {
    const repository_id =
      organization_id === undefined ? null : await repositoryOf(ctx.db, organization_id, kind, id)
    // The verb reports a missing resource: an edit of a pull request has a response of its own for it.
    if (repository_id === undefined) continue
    if (repository_id === null || !own.includes(repository_id))
      throw new ServiceError('not_found', missing[kind])
  }
}
