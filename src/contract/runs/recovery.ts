import { z } from 'zod'
import { pageOf, pageQuery } from '../page.ts'
import { exampleRun } from './example-run.ts'

export const StepState = z.enum(['committed', 'reissued', 'interrupted', 'not_run', 'failed', 'open']).meta({
  id: 'StepState',
  description: [
    '`committed`: its outcome is recorded, so it is never repeated.',
    '`reissued`: a model call that was lost with its worker; it was repeated, and both are counted.',
    '`interrupted`: a tool was started and its outcome is unknown; it is not repeated, and the agent is informed.',
    '`not_run`: it was planned and never started.',
    '`failed`: a model call that was refused, interrupted or abandoned.',
    '`open`: it is in progress.',
  ].join(' '),
})
export type StepState = z.infer<typeof StepState>

export const RecoveryStep = z
  .object({
    n: z.int().describe('Position among the steps of the run, from 1'),
    turn: z.int().describe('Turn it belongs to'),
    kind: z.enum(['model_call', 'tool_call']).describe('Kind of the step'),
    state: StepState,
    tool_name: z.string().nullable().describe('The tool; null for a model call'),
    call_id: z.string().nullable().describe('The id that the model gave the call; null for a model call'),
    seq: z
      .int()
      .nullable()
      .describe(
        'Length of the trace when its outcome was written; for a tool, its entry. Null without an outcome',
      ),
    epoch: z
      .int()
      .describe(
        'The number of the worker that started it: it increases with every claim, recovery and hand-over',
      ),
    started_at: z.iso
      .datetime()
      .nullable()
      .describe(
        'Time at which its start was recorded; UTC, ISO 8601 with milliseconds. Null when it never started',
      ),
    ended_at: z.iso.datetime().nullable().describe('Time at which its outcome was recorded'),
  })
  .meta({ id: 'RecoveryStep' })
export type RecoveryStep = z.infer<typeof RecoveryStep>

const RestoredWorkspace = z
  .object({
    how: z
      .enum(['adopted', 'restored', 'fresh'])
      .describe(
        '`adopted`: the folder still existed. `restored`: populated from a checkpoint. `fresh`: a checkout, because nothing else was available',
      ),
    seq: z
      .int()
      .nullable()
      .describe('Entry of the checkpoint that the files equal; null: they are those of `commit`'),
    commit: z.string().nullable().describe('The HEAD of the workspace'),
    tree: z.string().nullable().describe('A digest of all of its files, as they were read back'),
    matches: z.boolean().describe('Whether they are the files of the last checkpoint'),
    up_to_date: z.boolean().describe('Whether they are all files of the run, except ignored ones'),
  })
  .meta({ id: 'RestoredWorkspace' })

const Recovery = z
  .object({
    turn: z.int().describe('Turn in which it happened'),
    cause: z
      .enum(['lease_lost', 'handed_over'])
      .describe(
        '`lease_lost`: there was no heartbeat until the lease ended, or the sandbox ended during the run. `handed_over`: the worker shut down gracefully',
      ),
    lost_at: z.iso.datetime().describe('Time at which the lease ended or the run was handed over'),
    recovered_at: z.iso.datetime().describe('Time at which another worker continued'),
    after_seq: z.int().describe('Length of the trace then: all earlier entries are unchanged'),
    epoch: z.int().describe('The number of the worker that continued'),
    model_call_reissued: z.boolean().describe('Whether a model call was in progress and is repeated'),
    interrupted: z
      .array(
        z.object({
          call_id: z.string().describe('Id of the call'),
          tool_name: z.string().describe('Its tool'),
        }),
      )
      .describe('Calls whose outcome is unknown'),
    workspace: RestoredWorkspace.nullable().describe(
      'Recovery of the files; null until it is done, or when there were none',
    ),
  })
  .meta({ id: 'Recovery' })

const step = {
  turn: 1,
  epoch: 1,
  started_at: '2026-11-20T10:30:01.000Z',
  ended_at: '2026-11-20T10:30:03.000Z',
}

/**
 * The recovery report of a run: the outcome of every step, and how often another worker continued it
 * (specification.md#journal).
 */
export const RunRecovery = z
  .object({
    agent_run_id: z.int().describe('The run'),
    newest_kept_seq: z
      .int()
      .nullable()
      .describe(
        'The last entry after which all files are available: fork and restore work up to here. Null if no files are available',
      ),
    recoveries: z.array(Recovery).describe('Every time that another worker continued, oldest first'),
    counts: z
      .object(
        Object.fromEntries(
          StepState.options.map(state => [state, z.int().describe(`Steps that are \`${state}\``)]),
        ) as Record<StepState, z.ZodInt>,
      )
      .describe('Steps by state, of the whole run'),
    steps: pageOf(RecoveryStep).describe('A page of the steps, oldest first'),
  })
  .meta({
    id: 'AgentRunRecovery',
    examples: [
      {
        agent_run_id: exampleRun.id,
        newest_kept_seq: 4,
        recoveries: [
          {
            turn: 1,
            cause: 'lease_lost',
            lost_at: '2026-11-20T10:30:10.000Z',
            recovered_at: '2026-11-20T10:30:11.000Z',
            after_seq: 4,
            epoch: 3,
            model_call_reissued: true,
            interrupted: [],
            workspace: {
              how: 'restored',
              seq: 3,
              commit: exampleRun.base_sha,
              tree: 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334',
              matches: true,
              up_to_date: true,
            },
          },
        ],
        counts: { committed: 1, reissued: 1, interrupted: 0, not_run: 0, failed: 0, open: 0 },
        steps: {
          items: [
            {
              ...step,
              n: 1,
              kind: 'tool_call',
              state: 'committed',
              tool_name: 'shell',
              call_id: 'call_1',
              seq: 4,
            },
            {
              ...step,
              n: 2,
              kind: 'model_call',
              state: 'reissued',
              tool_name: null,
              call_id: null,
              seq: null,
              ended_at: null,
            },
          ],
          total: 2,
          page: 1,
          size: 100,
          pages: 1,
        },
      },
    ],
  })
export type RunRecovery = z.infer<typeof RunRecovery>

export const RecoveryQuery = z.object(pageQuery)
export type RecoveryQuery = z.output<typeof RecoveryQuery>
