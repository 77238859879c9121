import { forgeSealContext } from '../../core/forges/forge-secrets.ts'
import { secretContext } from '../../core/secrets/run-secrets.ts'
import type { SealContext, Sealed, Sealer } from '../../core/secrets/sealing.ts'
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

/** `resealed` with the key of now; `changed` by somebody meanwhile, who used it anyway; `unreadable`: no key that was given opens them. */
export type Rotation = { resealed: number; changed: number; unreadable: number }

/**
 * Seals everything that is stored with the current key again, of secrets, of forges and of those of webhooks, value by value: the service may be at work,
 * and what was broken off goes on where it was. Values of before stay where the key is not there that opens them.
 */
export async function rotateSecrets(db: Db, sealer: Sealer): Promise<Rotation> {
  const done: Rotation = { resealed: 0, changed: 0, unreadable: 0 }
  const again = (place: SealContext, from: Sealed): Sealed | null => {
    try {
      return sealer.seal(place, sealer.open(place, from))
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
      const next = again(secretContext(row.organization_id, row.repository_id, row.name), row)
      if (next) count(await resealSecret(db, row, next.key_id, next.sealed))
    },
  )
  for (const which of ['current', 'previous'] as const)
    await inBatches(
      after => webhooksOfOtherKeys(db, which, sealer.key_id, after, BATCH),
      row => row.organization_id,
      async row => {
        const next = again(webhookContext(row.organization_id), row)
        if (next) count(await resealWebhook(db, row, next.key_id, next.sealed))
      },
    )
  await inBatches(
    after => forgesOfOtherKeys(db, sealer.key_id, after, BATCH),
    row => row.id,
    async row => {
      const next = again(forgeSealContext(row.organization_id, row.url), row)
      if (next) count(await resealForge(db, row, next.key_id, next.sealed))
    },
  )
  await inBatches(
    after => runTargets(db, after, BATCH),
    row => row.id,
    async row => {
      let values = 0
      const targets = (JSON.parse(row.webhooks) as StoredTarget[]).map(target => {
        if (target.key_id === undefined || target.sealed === undefined || target.key_id === sealer.key_id) return target
        const from = { key_id: target.key_id, sealed: Buffer.from(target.sealed, 'base64') }
        const next = again(runTargetContext(row.organization_id, target.url), from)
        if (!next) return target
        values++
        return { ...target, key_id: next.key_id, sealed: next.sealed.toString('base64') }
      })
      if (values > 0) count(await resealRunTargets(db, row, JSON.stringify(targets)), values)
    },
  )
  return done
}

async function inBatches<Row>(read: (after: number) => Promise<Row[]>, placeOf: (row: Row) => number, each: (row: Row) => Promise<void>) {
  for (let after = 0; ; ) {
    const rows = await read(after)
    for (const row of rows) {
      await each(row)
      after = placeOf(row)
    }
    if (rows.length < BATCH) return
  }
}
