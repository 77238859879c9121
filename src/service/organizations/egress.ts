import { limits } from '../../contract/limits.ts'
import type { EgressInput, EgressRule } from '../../contract/organizations/egress.ts'
import { egressMode, setupMode } from '../../core/network/egress-mode.ts'
import { ServiceError } from '../../core/service-error.ts'
import {
  type EgressRow,
  getEgress as getRow,
  listEgressOfRun,
  lockEgress,
  saveEgress,
} from '../../store/access/egress.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from '../repositories/repositories.ts'

const egressObject = (row: EgressRow | undefined) => ({
  agent: {
    mode: row?.mode ?? null,
    allow: row?.allow ?? [],
    presets: row?.presets ?? [],
  },
  setup: { mode: row?.setup_mode ?? null },
})

/**
 * Returns the settings of the organization, or of one of its repositories. Throws 404 when the repository
 * does not exist.
 */
export async function getEgress(ctx: Context, repo_id: number | null, db: Db = ctx.db) {
  if (repo_id !== null) await requireRepository(db, ctx.organization_id, repo_id)
  return egressObject(await getRow(db, ctx.organization_id, repo_id))
}

/** Replaces all settings. Running runs apply them within a second or two. */
export async function setEgress(ctx: Context, repo_id: number | null, { agent, setup }: EgressInput) {
  return change(ctx, repo_id, async () => ({
    agent: { mode: agent.mode ?? null, allow: agent.allow ?? [], presets: agent.presets ?? [] },
    setup: { mode: setup?.mode ?? null },
  }))
}

/**
 * Adds a rule to those of a repository. An existing rule changes nothing; throws 409 when there are too many.
 * Where egress was off for the repository's runs, it becomes an allow-list of this rule alone, so that rules
 * that were listed while it was off stay closed.
 */
export async function allowEgress(ctx: Context, repo_id: number, rule: EgressRule) {
  return change(ctx, repo_id, async ({ agent, setup }, tx) => {
    const set = await listEgressOfRun(tx, ctx.organization_id, repo_id)
    if (egressMode(set, ctx.default_egress) === 'off') {
      if (setupMode(set) === 'allowlist' && agent.allow.length + agent.presets.length > 0)
        throw new ServiceError(
          'conflict',
          'The listed rules apply to setup commands only: set mode and lists together (PUT …/egress).',
        )
      return { agent: { mode: 'allowlist', allow: [rule], presets: [] }, setup }
    }
    if (agent.allow.some(known => textOf(known) === textOf(rule))) return null
    if (agent.allow.length >= limits.egress_rules)
      throw new ServiceError('conflict', `There are ${limits.egress_rules} rules already: remove one first.`)
    return { agent: { ...agent, allow: [...agent.allow, rule] }, setup }
  })
}

type Settings = ReturnType<typeof egressObject>

async function change(
  ctx: Context,
  repo_id: number | null,
  to: (now: Settings, tx: Db) => Promise<Settings | null>,
) {
  return ctx.db.transaction(async tx => {
    if (repo_id !== null && !(await holdRepository(tx, ctx.organization_id, repo_id)))
      throw repositoryNotFound()
    await lockEgress(tx, ctx.organization_id)
    const set = await to(await getEgress(ctx, repo_id, tx), tx)
    if (set !== null) {
      const { mode, allow, presets } = set.agent
      const row = { repository_id: repo_id, mode, setup_mode: set.setup.mode, allow, presets }
      await saveEgress(tx, ctx.organization_id, row, ctx.actor.user_id)
      const target =
        repo_id === null
          ? ({ type: 'organization', id: ctx.organization_id } as const)
          : ({ type: 'repository', id: repo_id } as const)
      await audit(tx, ctx, 'egress.updated', target, set)
    }
    return getEgress(ctx, repo_id, tx)
  })
}

const textOf = ({ host, port, methods }: EgressRule) =>
  JSON.stringify([host, port ?? null, methods == null ? null : [...methods].sort()])
