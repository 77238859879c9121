import type { KnownValue } from '../../core/secrets/known-value.ts'
import { isSetting } from '../../core/secrets/program-settings.ts'
import { openSecrets } from '../../core/secrets/run-secrets.ts'
import { createBackgroundRedactor } from '../../redaction/background-redactor.ts'
import type { BackgroundRedactor } from '../../redaction/port.ts'
import { listSealedSecrets } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'

type SecretsContext = Pick<Context, 'organization_id' | 'sealer' | 'known_values'>

/**
 * Returns a redactor for the secrets of the organization and of one of its repositories, and for this
 * process's credentials. A secret that no key opens is left out.
 */
export async function secretsRedactor(
  db: Db,
  ctx: SecretsContext,
  repository_id: number | null,
  also: KnownValue[] = [],
): Promise<BackgroundRedactor> {
  const rows = await listSealedSecrets(db, ctx.organization_id, repository_id)
  const secrets = openSecrets(ctx.sealer, ctx.organization_id, rows).secrets.filter(
    ({ name }) => !isSetting(name),
  )
  return createBackgroundRedactor([...secrets, ...ctx.known_values, ...also])
}

/**
 * Redacts the values of secrets in a person's text before it is stored. Text that only resembles a credential
 * stays, as it may be intended.
 */
export async function withoutSecrets<T>(
  db: Db,
  ctx: SecretsContext,
  repository_id: number | null,
  text: T,
): Promise<T> {
  return (await secretsRedactor(db, ctx, repository_id)).value(text, 'known')
}
