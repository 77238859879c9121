import { limits } from '../../contract/limits.ts'
import type { GenerateSetupCommandsInput } from '../../contract/runs/setup-detection.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import type { Context } from '../context.ts'
import { requireRepository } from '../repositories/repositories.ts'
import { acceptRun, planRun } from '../runs/create-run.ts'
import type { MessageSource } from '../runs/message-source.ts'

const by_generation: MessageSource = { source_type: 'SETUP_COMMANDS', comment: null }
const TRIGGER = 'setup-commands'

/**
 * Accepts a run that detects how a repository is set up (specification.md#setup-and-analysis). Throws 404 for
 * a repository that is not in this organization, 409 for one that accepts no runs.
 */
export async function generateSetupCommands(
  ctx: Context,
  { repo_id, prompt, trigger_source }: GenerateSetupCommandsInput,
) {
  const repository = await requireRepository(ctx.db, ctx.organization_id, repo_id)
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  // It also works by rules, so an unavailable default model does not prevent it.
  const preferred = organization?.default_model ?? null
  const models = await ctx.organizationModels(ctx.db, ctx.organization_id)
  const input = {
    repo_id,
    auto_create_pr: false,
    metadata: { trigger_source: trigger_source ?? TRIGGER },
    prompt: prompt ?? `Detect how ${repository.full_name} is set up.`,
    title: `Setup commands of ${repository.full_name}`.slice(0, limits.title_chars).toWellFormed(),
    model: preferred !== null && models.get(preferred) !== null ? preferred : models.default_model,
  }
  const { plan, problems } = await planRun(ctx, input)
  if (plan === null) throw problems[0]
  const run = await ctx.db.transaction(tx => acceptRun(tx, ctx, input, plan, by_generation))
  return { agent_run_id: run.id, status: run.status, url: run.web_url }
}
