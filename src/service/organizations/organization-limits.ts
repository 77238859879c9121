import { limits } from '../../contract/limits.ts'
import type {
  OrganizationLimit,
  OrganizationLimits,
} from '../../contract/organizations/organization-limits.ts'
import { ServiceError } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { type LimitUse, limitUse } from '../../store/access/limit-use.ts'
import { getOrganization, type OrganizationRow } from '../../store/access/organizations.ts'
import { type MonthRow, usedThisMonth } from '../../store/access/usage-days.ts'
import type { Context } from '../context.ts'

/**
 * A limit that is the same for all organizations. `use`: what counts against it; without it the limit bounds
 * each request or setting.
 */
type ServiceLimit = Pick<OrganizationLimit, 'summary' | 'unit' | 'per'> & {
  name: keyof typeof limits
  use?: keyof LimitUse
}

const SERVICE_LIMITS: ServiceLimit[] = [
  {
    name: 'secrets',
    summary: 'Secrets of the organization.',
    unit: 'entries',
    per: 'organization',
    use: 'secrets',
  },
  {
    name: 'models',
    summary: 'Models and providers that the organization set.',
    unit: 'entries',
    per: 'organization',
    use: 'models',
  },
  {
    name: 'skills',
    summary: 'Skills of the organization.',
    unit: 'entries',
    per: 'organization',
    use: 'skills',
  },
  {
    name: 'skill_chars',
    summary: 'Text of a skill of the organization.',
    unit: 'characters',
    per: 'request',
  },
  {
    name: 'mcp_servers',
    summary: 'MCP servers of the organization.',
    unit: 'entries',
    per: 'organization',
    use: 'mcp_servers',
  },
  { name: 'prompt_chars', summary: 'Length of a prompt.', unit: 'characters', per: 'request' },
  { name: 'images', summary: 'Images of a prompt.', unit: 'entries', per: 'request' },
  { name: 'images_bytes', summary: 'Images of a prompt, together.', unit: 'bytes', per: 'request' },
  { name: 'body_bytes', summary: 'Body of a request.', unit: 'bytes', per: 'request' },
  { name: 'rules_chars', summary: 'Rules of the organization.', unit: 'characters', per: 'organization' },
  { name: 'setup_commands', summary: 'Setup commands.', unit: 'entries', per: 'repository' },
  { name: 'check_commands', summary: 'Checks that the service runs.', unit: 'entries', per: 'repository' },
  { name: 'egress_rules', summary: 'Rules for network access.', unit: 'entries', per: 'repository' },
]

/** Returns what bounds the organization, as it is now (specification.md#rate-limits). */
export async function getOrganizationLimits(ctx: Context): Promise<OrganizationLimits> {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  if (!organization) throw new ServiceError('forbidden', 'You do not have access to this organization.')
  const month = await usedThisMonth(ctx.db, ctx.organization_id)
  const use = await limitUse(ctx.db, ctx.organization_id)
  return {
    items: [
      concurrentRuns(organization, use),
      ...monthlyLimits(month),
      ...ctx.operator_limits.map(limit => ({
        ...limit,
        used: null,
        resets_at: null,
        set_by: 'operator' as const,
      })),
      ...SERVICE_LIMITS.map(limit => serviceLimit(limit, use)),
    ],
  }
}

const concurrentRuns = (organization: OrganizationRow, use: LimitUse): OrganizationLimit => ({
  name: 'concurrent_runs',
  summary: 'Runs that are executed at the same time; further ones wait in the queue.',
  value: organization.max_concurrent_runs,
  used: use.active_runs,
  unit: 'runs',
  per: 'organization',
  window_seconds: null,
  resets_at: null,
  set_by: 'organization',
  setting: 'max_concurrent_runs',
})

/** The limits of a calendar month (UTC), which end with it. */
function monthlyLimits(month: MonthRow): OrganizationLimit[] {
  const [year = 0, number = 0] = month.month.split('-').map(Number)
  const monthly = {
    per: 'organization',
    window_seconds: null,
    resets_at: new Date(Date.UTC(year, number, 1)).toISOString(),
    set_by: 'organization',
  } as const
  return [
    {
      ...monthly,
      name: 'runs_per_month',
      summary: 'Runs created in a month (UTC); then create and resume get 402.',
      value: month.runs_per_month,
      used: month.runs,
      unit: 'runs',
      setting: 'runs_per_month',
    },
    {
      ...monthly,
      name: 'budget_usd_per_month',
      summary: 'Cost of models in a month (UTC); then create and resume get 402.',
      value: month.budget_usd_per_month === null ? null : plainDecimal(month.budget_usd_per_month),
      used: plainDecimal(month.cost_usd),
      unit: 'usd',
      setting: 'budget_usd_per_month',
    },
  ]
}

const serviceLimit = ({ use: counted, ...limit }: ServiceLimit, use: LimitUse): OrganizationLimit => ({
  ...limit,
  value: limits[limit.name],
  used: counted === undefined ? null : use[counted],
  window_seconds: null,
  resets_at: null,
  set_by: 'service',
  setting: null,
})
