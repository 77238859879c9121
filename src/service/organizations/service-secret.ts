import { secretContext } from '../../core/secrets/run-secrets.ts'
import { ServiceError } from '../../core/service-error.ts'
import { deleteSecret, saveSecret } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'

/** `repository_id`: null for the organization. `value`: null deletes it. */
type ServiceSecret = { repository_id: number | null; name: string; value: string | null }

/**
 * Stores a secret that the service uses and no sandbox gets: the key of a model, the credential of an MCP
 * server. Throws 409 when there are already `max` secrets.
 */
export async function saveServiceSecret(
  tx: Db,
  { organization_id, actor, sealer }: Context,
  { repository_id, name, value }: ServiceSecret,
  max: number,
): Promise<void> {
  if (value === null) {
    await deleteSecret(tx, organization_id, repository_id, name)
    return
  }
  const sealed = sealer.seal(secretContext(organization_id, repository_id, name), value)
  const { user_id } = actor
  const secret = { organization_id, repository_id, name, ...sealed, for_agent: false, user_id }
  if (!(await saveSecret(tx, secret, max)))
    throw new ServiceError('conflict', 'There are too many secrets: delete one first.')
}
