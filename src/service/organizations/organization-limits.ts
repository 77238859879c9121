import { limits } from '../../contract/limits.ts'
import type { OrganizationLimit, OrganizationLimits } from '../../contract/organizations/organization-limits.ts'
import { ServiceError } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { limitUse } from '../../store/access/limit-use.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { usedThisMonth } from '../../store/access/usage-days.ts'
import type { Context } from '../context.ts'

const fixed = { window_seconds: null, resets_at: null, set_by: 'service', setting: null } as const

/** Returns what bounds the organization, as it is now (specification.md#rate-limits). */
export async function getOrganizationLimits(ctx: Context): Promise<OrganizationLimits> {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  if (!organization) throw new ServiceError('forbidden', 'You do not have access to this organization.')
  const month = await usedThisMonth(ctx.db, ctx.organization_id)
  const use = await limitUse(ctx.db, ctx.organization_id)
  const [year = 0, number = 0] = month.month.split('-').map(Number)
  const monthly = { window_seconds: null, resets_at: new Date(Date.UTC(year, number, 1)).toISOString(), set_by: 'organization' } as const
  const own: OrganizationLimit[] = [
    {
      ...{ ...fixed, name: 'concurrent_runs', summary: 'Runs that are executed at the same time; further ones wait in the queue.' },
      ...{ value: organization.max_concurrent_runs, used: use.active_runs, unit: 'runs', per: 'organization' },
      ...{ set_by: 'organization', setting: 'max_concurrent_runs' },
    },
    {
      ...{ ...monthly, name: 'runs_per_month', summary: 'Runs created in a month (UTC); then create and resume get 402.' },
      ...{ value: month.runs_per_month, used: month.runs, unit: 'runs', per: 'organization', setting: 'runs_per_month' },
    },
    {
      ...{ ...monthly, name: 'budget_usd_per_month', summary: 'Cost of models in a month (UTC); then create and resume get 402.' },
      ...{
        value: month.budget_usd_per_month === null ? null : plainDecimal(month.budget_usd_per_month),
        used: plainDecimal(month.cost_usd),
      },
      ...{ unit: 'usd', per: 'organization', setting: 'budget_usd_per_month' },
    },
  ]
  const size = (name: string, summary: string, value: number, unit: OrganizationLimit['unit'], per: OrganizationLimit['per']) => ({
    ...{ ...fixed, name, summary, value, used: null, unit, per },
  })
  return {
    items: [
      ...own,
      ...ctx.operator_limits.map(limit => ({ ...limit, used: null, resets_at: null, set_by: 'operator' as const })),
      { ...size('secrets', 'Secrets of the organization.', limits.secrets, 'entries', 'organization'), used: use.secrets },
      { ...size('models', 'Models and providers that the organization set.', limits.models, 'entries', 'organization'), used: use.models },
      { ...size('skills', 'Skills of the organization.', limits.skills, 'entries', 'organization'), used: use.skills },
      size('skill_chars', 'Text of a skill of the organization.', limits.skill_chars, 'characters', 'request'),
      {
        ...size('mcp_servers', 'MCP servers of the organization.', limits.mcp_servers, 'entries', 'organization'),
        used: use.mcp_servers,
      },
      size('prompt_chars', 'Length of a prompt.', limits.prompt_chars, 'characters', 'request'),
      size('images', 'Images of a prompt.', limits.images, 'entries', 'request'),
      size('images_bytes', 'Images of a prompt, together.', limits.images_bytes, 'bytes', 'request'),
      size('body_bytes', 'Body of a request.', limits.body_bytes, 'bytes', 'request'),
      size('rules_chars', 'Rules of the organization.', limits.rules_chars, 'characters', 'organization'),
      size('setup_commands', 'Setup commands.', limits.setup_commands, 'entries', 'repository'),
      size('check_commands', 'Checks that the service runs.', limits.check_commands, 'entries', 'repository'),
      size('egress_rules', 'Rules for network access.', limits.egress_rules, 'entries', 'repository'),
    ],
  }
}
