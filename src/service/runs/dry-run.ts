import { DEFAULT_BRANCH_PREFIX } from '../../contract/organizations/branch-prefix.ts'
import type { DryRun } from '../../contract/runs/dry-run.ts'
import type { CreateRunInput } from '../../contract/runs/run-inputs.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { egressMode } from '../../core/network/egress-mode.ts'
import {
  environmentInputsDigest,
  manifestsDigest,
  setupDigest,
} from '../../core/repositories/prepared-environment.ts'
import { setupSecretsDigest } from '../../core/sandbox-environment.ts'
import { openSecrets } from '../../core/secrets/run-secrets.ts'
import { ServiceError } from '../../core/service-error.ts'
import { listEgressOfRun } from '../../store/access/egress.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { listSealedSecrets } from '../../store/access/secrets.ts'
import { rollback } from '../../store/database.ts'
import { getCheckCommands } from '../../store/pull-requests/check-commands.ts'
import { listEnvironments } from '../../store/workspaces/environments.ts'
import { getSetupCommands, type SetupCommandsRow } from '../../store/workspaces/setup-commands.ts'
import type { Context } from '../context.ts'
import { acceptRun, type PlannedRun, planRun, type RunPlan } from './create-run.ts'
import { getRepositoryStartups } from './startups.ts'
import { workerState } from './worker-state.ts'

type Finding = DryRun['notices'][number]

/**
 * Returns what a create would do: it plans the same and writes the same in a transaction that is rolled back,
 * so that no row, event or notification remains. Reasons for a refusal are reported as problems; a request
 * that cannot be parsed is refused as usual.
 */
export async function dryRunOf(ctx: Context, input: CreateRunInput): Promise<DryRun> {
  const { plan, found, problems } = await planRun(ctx, input)
  // A run reads the remote when it starts, so the next dry run should know what it would find.
  if (found.repository) ctx.refreshMirror(found.repository)
  const run = plan && (await rehearse(ctx, input, plan, problems))
  const { sandbox, blocked } = await workerState(ctx.db)
  const egress = await listEgressOfRun(ctx.db, ctx.organization_id, found.repository?.id ?? null)
  const network = egressMode(egress, ctx.default_egress) === 'off' ? 'none' : 'allowlist'
  return {
    dry_run: true,
    repository: found.repository
      ? { id: found.repository.id, full_name: found.repository.full_name, url: found.repository.url }
      : null,
    base_ref: run?.base_ref ?? found.base?.ref ?? null,
    base_sha: run?.base_sha ?? found.base?.sha ?? null,
    model: run?.model ?? found.model?.id ?? null,
    reasoning_effort: run?.reasoning_effort ?? found.reasoning_effort ?? null,
    review: run?.review ?? found.review ?? null,
    agent_type: run?.agent_type ?? found.agent?.agent_type ?? null,
    environment: { sandbox, blocked, network, ...(await readinessOf(ctx, found)) },
    limits_left: limitsLeft(ctx),
    blocking_problems: [
      ...problems.map(problemFinding),
      ...(blocked === null ? [] : [finding('workers_blocked', `No run can be started now: ${blocked}`)]),
      ...(found.base?.state === 'empty'
        ? [finding('empty_repository', 'The repository has no commit yet.')]
        : []),
    ],
    notices: [...noticesOf(found, input), ...(await blockedPrefix(ctx, found))],
  }
}

/** Returns whether an environment exists for a run that would start from that commit. */
async function readinessOf(ctx: Context, { repository, base }: PlannedRun['found']) {
  if (!repository) return { setup: null, checks: 0, startups: null }
  const [set_up, checked, startups] = await Promise.all([
    getSetupCommands(ctx.db, ctx.organization_id, repository.id),
    getCheckCommands(ctx.db, ctx.organization_id, repository.id),
    getRepositoryStartups(ctx, repository.id, {}),
  ])
  const commands = set_up?.commands ?? []
  const checks = checked?.checks.length ?? 0
  const sha = base?.sha ?? null
  const ready =
    set_up && commands.length > 0 && sha !== null
      ? await preparedFor(ctx, repository, set_up, { ref: base?.ref ?? null, sha })
      : undefined
  const state = commands.length === 0 ? 'none' : ready ? 'prepared' : 'to_be_prepared'
  const environment = {
    environment_id: ready?.id ?? null,
    made_at: ready?.made_at.toISOString() ?? null,
    at_base_sha: ready ? ready.base_sha === sha : null,
  }
  return { setup: { commands: commands.length, state, ...environment } as const, checks, startups }
}

/**
 * Returns the environment that a run would probably reuse: prepared by the same commands with the same
 * secrets and manifests, for that ref or the shared one.
 */
async function preparedFor(
  ctx: Context,
  repository: RepositoryRow,
  set_up: SetupCommandsRow,
  at: { ref: string | null; sha: string },
) {
  const { commands, variables } = set_up
  const files = await ctx.listManifests(repository.id, at.sha, commands)
  if (files === null) return undefined
  const sealed = await listSealedSecrets(ctx.db, ctx.organization_id, repository.id)
  const secrets = setupSecretsDigest(
    ctx.sealer,
    ctx.organization_id,
    openSecrets(ctx.sealer, ctx.organization_id, sealed).secrets,
  )
  const same = {
    inputs_digest: environmentInputsDigest(setupDigest(commands, JSON.stringify(variables)), secrets),
    manifests: manifestsDigest(files),
  }
  const oldest_ms = Date.now() - ctx.environment_seconds * 1_000
  const rows = (await listEnvironments(ctx.db, ctx.organization_id, repository.id)).filter(
    row =>
      row.setup_digest === same.inputs_digest &&
      row.manifests_digest === same.manifests &&
      row.made_at.getTime() > oldest_ms,
  )
  const shared = repository.base_branch ?? repository.default_branch
  return (
    rows.find(row => row.base_ref === at.ref || row.base_ref === at.sha) ??
    rows.find(row => row.base_ref === shared)
  )
}

async function rehearse(
  ctx: Context,
  input: CreateRunInput,
  plan: RunPlan,
  problems: ServiceError[],
): Promise<AgentRun | null> {
  try {
    return await ctx.db.transaction(async tx => rollback(await acceptRun(tx, ctx, input, plan)))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    problems.push(error)
    return null
  }
}

const finding = (code: string, detail: string, field: string | null = null): Finding => ({
  code,
  detail,
  field,
})
const problemFinding = ({ code, message, errors }: ServiceError): Finding =>
  finding(code, message, errors[0]?.loc.slice(1).join('.') || null)

function noticesOf({ model, agent, base }: PlannedRun['found'], { budget }: CreateRunInput): Finding[] {
  const unbounded =
    budget?.max_cost_usd != null && model?.price({ input_tokens: 1, output_tokens: 1 }) === null
  return [
    ...(unbounded
      ? [
          finding(
            'price_unknown',
            `The price of ${model.id} is not known, so max_cost_usd limits nothing.`,
            'budget.max_cost_usd',
          ),
        ]
      : []),
    ...(model?.scripted
      ? [
          finding(
            'scripted_model',
            `${model.id} executes a script in the prompt; it is not a language model.`,
            'model',
          ),
        ]
      : []),
    ...(model?.instead_of === undefined
      ? []
      : [
          finding(
            'model_replaced',
            `${model.instead_of} is not available here; ${model.id} is used instead.`,
            'model',
          ),
        ]),
    ...(agent?.instead_of === undefined
      ? []
      : [
          finding(
            'agent_replaced',
            `${agent.instead_of} is not installed; ${agent.agent_type} is used instead.`,
            'agent_type',
          ),
        ]),
    ...(base?.state === 'no_mirror'
      ? [
          finding(
            'base_unresolved',
            'The repository could not be read in time; the commit is resolved when the run starts.',
            'base_ref',
          ),
        ]
      : []),
  ]
}

/** A server may refuse further names, which only a push shows. */
async function blockedPrefix(
  ctx: Context,
  { repository, branch_prefix }: PlannedRun['found'],
): Promise<Finding[]> {
  if (!repository) return []
  const prefix = branch_prefix ?? DEFAULT_BRANCH_PREFIX
  const branch = await ctx.blockingBranch(repository.id, prefix)
  if (branch === null) return []
  const detail = `The repository has a branch ${JSON.stringify(branch)}, so none can be named ${prefix}run-…: the branch of the run has - instead of /.`
  return [finding('branch_prefix_taken', detail)]
}

function limitsLeft({ windows }: Context): DryRun['limits_left'] {
  return Object.fromEntries(
    windows.map(({ name, rate, used, reset_ms }) => [
      name,
      {
        limit: rate.requests,
        remaining: Math.max(0, rate.requests - used),
        reset_seconds: Math.ceil(reset_ms / 1000),
      },
    ]),
  )
}
