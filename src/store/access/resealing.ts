import { allRows, changedOne, type Db } from '../database.ts'

/**
 * A value that is sealed with another key than `key_id`, listed in pages by id across all organizations. For
 * the operator only.
 */
type SealedRow = {
  id: number
  organization_id: number
  repository_id: number | null
  name: string
  key_id: string
  sealed: Buffer
}

/**
 * Returns up to `limit` secrets of all organizations that are sealed with another key, ascending by id after
 * `after_id`.
 */
export function secretsOfOtherKeys(
  db: Db,
  key_id: string,
  after_id: number,
  limit: number,
): Promise<SealedRow[]> {
  return allRows<SealedRow>(db, {
    name: 'secrets_of_other_keys',
    text: `select id, organization_id, repository_id, name, key_id, sealed
      from secrets
      where key_id <> $1 and id > $2
      order by id
      limit $3`,
    values: [key_id, after_id, limit],
  })
}

/** Returns false when the secret was replaced or deleted meanwhile; then it needs no resealing. */
export function resealSecret(db: Db, before: SealedRow, key_id: string, sealed: Buffer): Promise<boolean> {
  return changedOne(db, {
    name: 'reseal_secret',
    text: `update secrets
      set key_id = $3, sealed = $4
      where organization_id = $1 and id = $2 and sealed = $5`,
    values: [before.organization_id, before.id, key_id, sealed, before.sealed],
  })
}

/** `which`: the current secret, or the previous one that still signs beside it. */
type SealedWebhookRow = {
  organization_id: number
  which: 'current' | 'previous'
  key_id: string
  sealed: Buffer
}
const of = {
  current: { key: 'key_id', sealed: 'sealed_secret' },
  previous: { key: 'previous_key_id', sealed: 'previous_sealed_secret' },
} as const

/**
 * Returns up to `limit` signing secrets of webhooks that are sealed with another key, ascending by
 * organization.
 */
export function webhooksOfOtherKeys(
  db: Db,
  which: SealedWebhookRow['which'],
  key_id: string,
  after_organization: number,
  limit: number,
): Promise<SealedWebhookRow[]> {
  const { key, sealed } = of[which]
  return allRows<SealedWebhookRow>(db, {
    name: `webhooks_of_other_keys_${which}`,
    text: `select organization_id, '${which}' as which, ${key} as key_id, ${sealed} as sealed
      from webhooks
      where ${key} <> $1 and organization_id > $2
      order by organization_id
      limit $3`,
    values: [key_id, after_organization, limit],
  })
}

/**
 * Replaces the sealed secret of a webhook. False: it has changed since it was read, and nothing was written.
 */
export function resealWebhook(
  db: Db,
  before: SealedWebhookRow,
  key_id: string,
  sealed: Buffer,
): Promise<boolean> {
  const column = of[before.which]
  return changedOne(db, {
    name: `reseal_webhook_${before.which}`,
    text: `update webhooks
      set ${column.key} = $2, ${column.sealed} = $3
      where organization_id = $1 and ${column.sealed} = $4`,
    values: [before.organization_id, key_id, sealed, before.sealed],
  })
}

/** The webhook targets of a run as JSON text, with sealed secrets. */
type RunTargetsRow = { id: number; organization_id: number; webhooks: string }

/**
 * Returns up to `limit` runs of all organizations whose webhook targets contain a sealed secret, ascending by
 * id.
 */
export function runTargets(db: Db, after_id: number, limit: number): Promise<RunTargetsRow[]> {
  return allRows<RunTargetsRow>(db, {
    name: 'run_targets',
    text: `select id, organization_id, webhooks
      from runs
      where id > $1 and strpos(webhooks, '"key_id"') > 0
      order by id
      limit $2`,
    values: [after_id, limit],
  })
}

/**
 * Replaces the webhook targets of a run. False: they have changed since they were read, and nothing was
 * written.
 */
export function resealRunTargets(db: Db, before: RunTargetsRow, webhooks: string): Promise<boolean> {
  return changedOne(db, {
    name: 'reseal_run_targets',
    text: `update runs
      set webhooks = $3
      where organization_id = $1 and id = $2 and webhooks = $4`,
    values: [before.organization_id, before.id, webhooks, before.webhooks],
  })
}

type SealedForgeRow = { id: number; organization_id: number; url: string; key_id: string; sealed: Buffer }

/**
 * Returns up to `limit` connections to forges whose credentials are sealed with another key, ascending by id.
 */
export function forgesOfOtherKeys(
  db: Db,
  key_id: string,
  after_id: number,
  limit: number,
): Promise<SealedForgeRow[]> {
  return allRows<SealedForgeRow>(db, {
    name: 'forges_of_other_keys',
    text: `select id, organization_id, url, key_id, sealed
      from forges
      where key_id <> $1 and id > $2
      order by id
      limit $3`,
    values: [key_id, after_id, limit],
  })
}

/**
 * Replaces the sealed credentials of a connection. False: they have changed since they were read, and nothing
 * was written.
 */
export function resealForge(
  db: Db,
  before: SealedForgeRow,
  key_id: string,
  sealed: Buffer,
): Promise<boolean> {
  return changedOne(db, {
    name: 'reseal_forge',
    text: `update forges
      set key_id = $3, sealed = $4
      where organization_id = $1 and id = $2 and sealed = $5`,
    values: [before.organization_id, before.id, key_id, sealed, before.sealed],
  })
}
