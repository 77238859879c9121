import { limits } from '../../contract/limits.ts'
import type { SecretInput } from '../../contract/organizations/secrets.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { mayBeVariable } from '../../core/sandbox-environment.ts'
import { SHORTEST_SECRET } from '../../core/secrets/known-value.ts'
import { isSetting } from '../../core/secrets/program-settings.ts'
import { isForGitAlone } from '../../core/secrets/repository-credentials.ts'
import { secretContext } from '../../core/secrets/run-secrets.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import {
  deleteSecret as deleteSecretRow,
  listSecrets as listSecretRows,
  lockSecrets,
  type SecretRow,
  saveSecret,
} from '../../store/access/secrets.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from '../repositories/repositories.ts'

const secretObject = (row: SecretRow) => ({
  name: row.name,
  repo_id: row.repository_id,
  for_agent: row.for_agent,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  updated_by: row.updated_by,
})

/** Returns one page of secrets by name, without their values. `repo_id` null: those of the organization. */
export async function listSecrets(ctx: Context, repo_id: number | null, query: PageRequest) {
  if (repo_id !== null) await requireRepository(ctx.db, ctx.organization_id, repo_id)
  const window = pageWindow(query)
  const { rows, total } = await listSecretRows(ctx.db, ctx.organization_id, repo_id, window)
  return { items: rows.map(secretObject), total, ...pageNumbers(total, window) }
}

/**
 * Creates a secret or gives it a new value. Throws 409 when there would be too many; 400 for a secret for
 * agents that is too short to be redacted from traces, or whose name controls the sandbox.
 */
export async function setSecret(ctx: Context, repo_id: number | null, name: string, input: SecretInput) {
  const sealed = ctx.sealer.seal(secretContext(ctx.organization_id, repo_id, name), input.value)
  return ctx.db.transaction(async tx => {
    if (repo_id !== null && !(await holdRepository(tx, ctx.organization_id, repo_id)))
      throw repositoryNotFound()
    await lockSecrets(tx, ctx.organization_id)
    const key = { organization_id: ctx.organization_id, repository_id: repo_id, name }
    const row = await saveSecret(
      tx,
      { ...key, ...sealed, for_agent: input.for_agent ?? null, user_id: ctx.actor.user_id },
      limits.secrets,
    )
    if (!row)
      throw new ServiceError('conflict', `There are already ${limits.secrets} secrets: delete one first.`)
    if (row.for_agent) requireForAgent(repo_id, name, input.value)
    await audit(tx, ctx, 'secret.set', { type: 'secret', id: name }, { repo_id, for_agent: row.for_agent })
    return secretObject(row)
  })
}

function requireForAgent(repo_id: number | null, name: string, value: string): void {
  if (isForGitAlone(repo_id, name))
    throw invalid(['body', 'for_agent'], `must be false: the service's own git signs in with ${name}`)
  if (!isSetting(name) && Buffer.byteLength(value.trim()) < SHORTEST_SECRET)
    throw invalid(
      ['body', 'value'],
      `must have at least ${SHORTEST_SECRET} bytes where agents may see it: shorter ones cannot be kept out of traces`,
    )
  if (!mayBeVariable(name))
    throw invalid(
      ['path', 'name'],
      'is a variable that controls the sandbox itself, so agents cannot have it',
    )
}

/** Returns the deleted secret, without its value. Throws 404 when it does not exist. */
export async function deleteSecret(ctx: Context, repo_id: number | null, name: string) {
  return ctx.db.transaction(async tx => {
    if (repo_id !== null) await requireRepository(tx, ctx.organization_id, repo_id)
    const row = await deleteSecretRow(tx, ctx.organization_id, repo_id, name)
    if (!row) throw new ServiceError('not_found', 'Secret not found.')
    await audit(tx, ctx, 'secret.deleted', { type: 'secret', id: name }, { repo_id })
    return secretObject(row)
  })
}
