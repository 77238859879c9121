import { z } from 'zod'
import { limits } from '../limits.ts'
import { text } from '../text.ts'

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

const shape = {
  commands: z
    .array(text(1, limits.setup_command_chars, { trim: true }))
    .max(limits.setup_commands)
    .describe(
      'Command lines of bash, run one after the other in one shell, in the folder of the repository; none: there is no setup',
    ),
  maintenance_commands: z
    .array(text(1, limits.setup_command_chars, { trim: true }))
    .max(limits.setup_commands)
    .describe(
      'Command lines that run instead where `commands` have prepared an environment for an earlier run at another commit: what must be repeated when sources change, such as a build',
    ),
  variables: z
    .record(
      z.string().regex(VARIABLE, 'must be letters, digits and _, and not begin with a digit'),
      text(0, limits.setup_variable_chars),
    )
    .refine(
      set => Object.keys(set).length <= limits.setup_variables,
      `must not be more than ${limits.setup_variables}`,
    )
    .meta({ wire_rules: { maxProperties: limits.setup_variables } })
    .describe(
      'Environment variables of these commands and of nothing else, in addition to the secrets. They are not secret: traces show them',
    ),
  on_failure: z
    .enum(['fail', 'continue'])
    .describe(
      'Behaviour when a command fails: the run ends as `setup_failed`, or continues with the agent, which is informed',
    ),
  timeout_seconds: z
    .int()
    .min(10)
    .max(limits.setup_seconds)
    .describe('Seconds that all of them may take together'),
}

/** How the sandbox of a repository's runs is prepared (specification.md#setup-and-analysis). */
export const SetupCommandSettings = z
  .object({
    ...shape,
    updated_at: z.iso.datetime().nullable().describe('Time of the last change; null: never'),
    updated_by: z.int().nullable().describe('The user who set them last'),
  })
  .meta({
    id: 'SetupCommandSettings',
    examples: [
      {
        commands: ['npm ci', 'npm run build'],
        maintenance_commands: ['npm run build'],
        variables: { NODE_ENV: 'development' },
        on_failure: 'fail',
        timeout_seconds: 600,
        updated_at: '2026-11-20T10:30:00.000Z',
        updated_by: 1,
      },
    ],
  })

export const SetupCommandSettingsInput = z
  .object({
    commands: shape.commands,
    maintenance_commands: shape.maintenance_commands.optional(),
    variables: shape.variables.optional(),
    on_failure: shape.on_failure.optional(),
    timeout_seconds: shape.timeout_seconds.optional(),
  })
  .meta({ id: 'SetupCommandSettingsInput', examples: [{ commands: ['npm ci'] }] })
export type SetupCommandSettingsInput = z.output<typeof SetupCommandSettingsInput>

/** The defaults. */
export const default_setup: Pick<
  z.output<typeof SetupCommandSettings>,
  'maintenance_commands' | 'variables' | 'on_failure' | 'timeout_seconds'
> = {
  maintenance_commands: [],
  variables: {},
  on_failure: 'fail',
  timeout_seconds: 600,
}

/** The answer of a model to the question how a repository is set up. */
export const SetupSuggestion = z.object({
  commands: z
    .array(text(1, 2_000, { trim: true }))
    .max(20)
    .describe(
      'Command lines of bash, run one after the other in the folder of the repository; empty: it needs nothing',
    ),
  proof: text(1, 2_000, { trim: true }).describe(
    "The repository's own command of its tests, or of its build where its tests cannot run",
  ),
  reason: text(1, 2_000, { trim: true }).describe(
    'In one or two sentences: what was wrong, and why this is correct',
  ),
})

/** Why nothing was verified. */
export const unproved_reasons = [
  'toolchain_missing',
  'registry_unreachable',
  'command_failed',
  'proof_failed',
  'nothing_found',
  'time_over',
] as const

/** The result of a run of `/setup-commands/generate`, as JSON text in its `result`. */
export const FoundSetupCommands = z.object({
  commands: shape.commands,
  verified: z
    .boolean()
    .describe('They ran in a clean sandbox, and a command of the repository passed on the result'),
  saved: z.boolean().describe('The repository had none, and has these now'),
  reason: z.enum(unproved_reasons).nullable().describe('The reason for which they are not verified'),
  detail: z.string().describe('The proof, or the obstacle'),
  evidence: z.array(
    z.object({
      seq: z.int().describe('The entry of the trace that shows it'),
      what: z.enum(['proposal', 'command', 'repair', 'proof']),
      ok: z.boolean(),
      command: z.string(),
      from: z.string().describe('The file of the repository that it comes from'),
      text: z.string(),
    }),
  ),
  timings: z.object({
    commands: z.array(z.object({ command: z.string(), ms: z.int() })),
    proofs: z.array(z.object({ command: z.string(), ms: z.int() })),
    total_ms: z.int(),
  }),
  environment_digest: z
    .string()
    .describe('SHA-256 of commands, variables, lockfiles and versions of the toolchain'),
})
export type FoundSetupCommands = z.output<typeof FoundSetupCommands>
