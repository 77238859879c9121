import { BUILT_IN_AGENT } from '../../core/agents/registered-agents.ts'
import { stricterPermissions } from '../../core/agents/stricter-permissions.ts'
import { invalid } from '../../core/service-error.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import type { ActorContext, Context, ModelList, UsableModel } from '../context.ts'

/**
 * Returns the model of that name. Throws 400 with the list, naming `field` of the body, when there is none.
 */
export function requireModel(models: ModelList, name: string, field = 'model'): UsableModel {
  const model = models.get(name)
  if (model) return model
  const known = models.list().map(item => item.id)
  throw invalid(
    ['body', field],
    `unknown model ${JSON.stringify(name.slice(0, 100))}; available: ${known.join(', ')}`,
  )
}

/** The model names of the public API (`gpt-5`): without the provider prefix of this service's names. */
const PUBLIC_NAME = /^[A-Za-z0-9][\w.:-]*$/

/**
 * Returns the model that a request names. Under wire profile `codegen` a public name means the model of that
 * name from any provider; null: there is none, and the caller falls back to another model and reports that.
 * Throws 400 for every other unknown name.
 */
export function requestedModel(
  models: ModelList,
  { actor }: Pick<ActorContext, 'actor'>,
  name: string,
): UsableModel | null {
  if (actor.wire_profile !== 'codegen' || !PUBLIC_NAME.test(name)) return requireModel(models, name)
  const same = models.list().find(({ id }) => id.endsWith(`/${name}`))
  return same ? models.get(same.id) : null
}

/**
 * Returns the model for runs that name none: the organization's default, or else the service's. Throws 400
 * when the organization's was removed.
 */
export function defaultModel(models: ModelList, organization_model: string | null): UsableModel {
  const model = models.get(organization_model ?? models.default_model)
  if (model) return model
  throw invalid(
    ['body', 'model'],
    `is required: ${organization_model}, the default of the organization, is no longer configured`,
  )
}

/**
 * Returns the models that runs of the organization can use, grouped by provider, and the model of runs that
 * name none. Provider keys of the organization come before those of the operator
 * (docs/specification.md#access).
 */
export async function listModels(ctx: Context) {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const models = await ctx.organizationModels(ctx.db, ctx.organization_id)
  const providers = new Map<string, { label: string; value: string }[]>()
  for (const model of models.list())
    providers.set(model.provider, [
      ...(providers.get(model.provider) ?? []),
      { label: model.label, value: model.id },
    ])
  return {
    providers: [...providers].map(([name, own]) => ({ name, models: own })),
    default_model: organization?.default_model ?? models.default_model,
  }
}

/** Returns the agents that a run can name as `agent_type` (docs/specification.md#create-and-resume). */
export async function listAgents(ctx: Context) {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const built_in = {
    agent_type: BUILT_IN_AGENT,
    label: 'Built-in',
    apis: null,
    version: null,
    tested_version: null,
    permissions: null,
  }
  const registered = [...ctx.agents.values()].map(({ id, label, apis, npm, permissions }) => ({
    agent_type: id,
    label,
    apis: [...apis],
    permissions: stricterPermissions(permissions, organization?.agent_permissions ?? null),
    version: ctx.agent_versions.get(id) ?? null,
    tested_version: npm?.verified ?? null,
  }))
  return { agents: [built_in, ...registered], default_agent: BUILT_IN_AGENT }
}
