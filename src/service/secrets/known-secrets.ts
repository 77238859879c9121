import type { BackgroundRedactor } from '../../core/redaction/background-redactor.ts'
import type { KnownValue } from '../../core/redaction/redact.ts'
import { openSecrets } from '../../core/secrets/run-secrets.ts'
import { createBackgroundRedactor } from '../../redaction/background-redactor.ts'
import { listSealedSecrets } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'

type Known = Pick<Context, 'organization_id' | 'sealer' | 'known_values'>

/** Takes the secrets of the organization, and of a repository of it, and our own credentials out of texts. One that no key of ours opens is not known here. */
export async function secretsRedactor(
  db: Db,
  ctx: Known,
  repository_id: number | null,
  also: KnownValue[] = [],
): Promise<BackgroundRedactor> {
  const rows = await listSealedSecrets(db, ctx.organization_id, repository_id)
  return createBackgroundRedactor([...openSecrets(ctx.sealer, ctx.organization_id, rows).secrets, ...ctx.known_values, ...also])
}

/** What people say, as it is kept: without the values of secrets. What only looks like a credential they may have meant to say. */
export async function withoutSecrets<T>(db: Db, ctx: Known, repository_id: number | null, said: T): Promise<T> {
  return (await secretsRedactor(db, ctx, repository_id)).value(said, 'known')
}
