import { forgeSealContext } from '../../core/forges/forge-secrets.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { secretContext } from '../../core/secrets/run-secrets.ts'
import type { SealContext, SealedValue, Sealer } from '../../core/secrets/sealing.ts'
import { runTargetContext, type StoredTarget, webhookContext } from '../../core/webhooks/webhook-secrets.ts'
import {
  forgesOfOtherKeys,
  resealForge,
  resealRunTargets,
  resealSecret,
  resealWebhook,
  runTargets,
  secretsOfOtherKeys,
  webhooksOfOtherKeys,
} from '../../store/access/resealing.ts'
import type { Db } from '../../store/database.ts'

const BATCH = 200

/**
 * `resealed`: sealed with the current key; `changed`: replaced concurrently, with the current key too;
 * `unreadable`: no given key opens them.
 */
type Rotation = { resealed: number; changed: number; unreadable: number }

/**
 * Seals all stored values of secrets, forges and webhooks with the current key, one by one: the service may
 * be running, and an interrupted rotation continues where it stopped. A value that no given key opens is left
 * unchanged.
 */
export async function rotateSecrets(db: Db, sealer: Sealer): Promise<Rotation> {
  const done: Rotation = { resealed: 0, changed: 0, unreadable: 0 }
  const reseal = (context: SealContext, from: SealedValue): SealedValue | null => {
    try {
      return sealer.seal(context, sealer.open(context, from))
    } catch {
      done.unreadable++
      return null
    }
  }
  const count = (written: boolean, values = 1) => {
    if (written) done.resealed += values
    else done.changed += values
  }

  await inBatches(
    after => secretsOfOtherKeys(db, sealer.key_id, after, BATCH),
    row => row.id,
    async row => {
      const next = reseal(secretContext(row.organization_id, row.repository_id, row.name), row)
      if (next) count(await resealSecret(db, row, next.key_id, next.sealed))
    },
  )
  for (const which of ['current', 'previous'] as const)
    await inBatches(
      after => webhooksOfOtherKeys(db, which, sealer.key_id, after, BATCH),
      row => row.organization_id,
      async row => {
        const next = reseal(webhookContext(row.organization_id), row)
        if (next) count(await resealWebhook(db, row, next.key_id, next.sealed))
      },
    )
  await inBatches(
    after => forgesOfOtherKeys(db, sealer.key_id, after, BATCH),
    row => row.id,
    async row => {
      const next = reseal(forgeSealContext(row.organization_id, row.url), row)
      if (next) count(await resealForge(db, row, next.key_id, next.sealed))
    },
  )
  await inBatches(
    after => runTargets(db, after, BATCH),
    row => row.id,
    async row => {
      let values = 0
      const targets = storedJson<StoredTarget[]>(row.webhooks).map(target => {
        if (target.key_id === undefined || target.sealed === undefined || target.key_id === sealer.key_id)
          return target
        const from = { key_id: target.key_id, sealed: Buffer.from(target.sealed, 'base64') }
        const next = reseal(runTargetContext(row.organization_id, target.url), from)
        if (!next) return target
        values++
        return { ...target, key_id: next.key_id, sealed: next.sealed.toString('base64') }
      })
      if (values > 0) count(await resealRunTargets(db, row, JSON.stringify(targets)), values)
    },
  )
  return done
}

async function inBatches<Row>(
  read: (after: number) => Promise<Row[]>,
  idOf: (row: Row) => number,
  each: (row: Row) => Promise<void>,
) {
  for (let after = 0; ; ) {
    const rows = await read(after)
    for (const row of rows) {
      await each(row)
      after = idOf(row)
    }
    if (rows.length < BATCH) return
  }
}
