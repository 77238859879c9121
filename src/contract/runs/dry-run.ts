import { z } from 'zod'
import { ReasoningEffort } from '../reasoning-effort-schema.ts'
import { ReviewMode } from '../review-mode-schema.ts'
import { exampleRun } from './example-run.ts'
import { StartupStatistics } from './startups.ts'

const Remark = z.object({
  code: z.string().describe('For programs'),
  detail: z.string().describe('For people'),
  field: z.string().nullable().describe('The field of the request that it concerns, if any'),
})

/** What a create would do (specification.md#create-and-resume): executed by the same code and rolled back. */
export const DryRun = z
  .object({
    dry_run: z.literal(true).describe('Nothing was created'),
    repository: z
      .object({
        id: z.int().describe('The repository'),
        full_name: z.string().describe('Its name with its owner'),
        url: z.string().describe('Address for the clone'),
      })
      .nullable()
      .describe(
        'The repository that the run would work on; null: an empty workspace, or none could be chosen',
      ),
    base_ref: z.string().nullable().describe('Branch, tag or commit that it would start from'),
    base_sha: z.string().nullable().describe('The commit of `base_ref`; null while it is not known'),
    model: z.string().nullable().describe('The model that it would use; null: the requested one is unknown'),
    reasoning_effort: ReasoningEffort.nullable().describe(
      "Reasoning effort of the model; null: the model's default",
    ),
    review: ReviewMode.nullable().describe(
      "Reviewer of the change: `model` or `rules`; null: the service's default",
    ),
    agent_type: z
      .string()
      .nullable()
      .describe('The agent that would work on it; null: the requested one is not installed'),
    environment: z
      .object({
        sandbox: z
          .string()
          .nullable()
          .describe('The sandbox driver that isolates the run; null while no run can be started'),
        blocked: z.string().nullable().describe('The reason for which no run can be started now'),
        network: z
          .enum(['none', 'allowlist'])
          .describe(
            'Network access of a run: none, or through a proxy to the hosts that `GET …/egress` allows',
          ),
        setup: z
          .object({
            commands: z.int().describe('Commands that prepare the sandbox before the agent begins'),
            state: z
              .enum(['none', 'prepared', 'to_be_prepared'])
              .describe(
                '`none`: there are no commands. `prepared`: an earlier run has prepared the same environment on a machine. Otherwise the commands run',
              ),
            environment_id: z.int().nullable().describe('The prepared environment'),
            made_at: z.iso.datetime().nullable().describe('Time of its preparation'),
            at_base_sha: z
              .boolean()
              .nullable()
              .describe(
                'Whether it was prepared at the commit that the run would start from; otherwise maintenance commands run',
              ),
          })
          .nullable()
          .describe('Its setup; null: no repository'),
        checks: z.int().describe('Checks that the service itself would run on what is pushed'),
        startups: StartupStatistics.nullable().describe(
          'Start times of the repository’s runs in the last 7 days; null: no repository',
        ),
      })
      .describe('Its sandbox'),
    limits_left: z
      .record(
        z.string(),
        z.object({
          limit: z.int().describe('Requests in the window'),
          remaining: z.int().describe('Requests that are left; this request is counted'),
          reset_seconds: z.int().describe('Seconds until all of them are available again'),
        }),
      )
      .describe('The windows that a create is charged to, by name; those without a limit are left out'),
    blocking_problems: z
      .array(Remark)
      .describe(
        'Obstacles to the creation (`code` as in the refusal) or to the start of the run: `workers_blocked`, `empty_repository`',
      ),
    notices: z
      .array(Remark)
      .describe(
        'Warnings, which do not prevent the run: `scripted_model`, `agent_replaced`, `model_replaced`, `base_unresolved`, `price_unknown`, `branch_prefix_taken`',
      ),
  })
  .meta({
    id: 'AgentRunDryRun',
    examples: [
      {
        dry_run: true,
        repository: {
          id: exampleRun.repo_id,
          full_name: 'shop/invoice',
          url: 'https://git.example.org/shop/invoice.git',
        },
        base_ref: exampleRun.base_ref,
        base_sha: exampleRun.base_sha,
        model: exampleRun.model,
        reasoning_effort: null,
        review: null,
        agent_type: exampleRun.agent_type,
        environment: {
          sandbox: 'bubblewrap',
          blocked: null,
          network: 'none',
          checks: 0,
          startups: null,
          setup: { commands: 0, state: 'none', environment_id: null, made_at: null, at_base_sha: null },
        },
        limits_left: { agent_creation: { limit: 10, remaining: 9, reset_seconds: 60 } },
        blocking_problems: [],
        notices: [],
      },
    ],
  })
export type DryRun = z.infer<typeof DryRun>
