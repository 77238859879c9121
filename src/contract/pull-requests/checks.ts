import { z } from 'zod'
import { limits } from '../limits.ts'
import { text } from '../text.ts'

const name = text(1, limits.check_name_chars, { trim: true }).describe(
  'Its name in settings, traces and pull requests',
)
const command = text(1, limits.check_command_chars, { trim: true }).describe(
  'A command line of bash, run in the folder of the repository; exit code 0: it passes',
)
const timeout_seconds = z.int().min(1).max(limits.check_seconds).describe('Seconds that it may take')

/** The checks of a repository that the service runs itself. */
export const CheckCommands = z
  .object({
    checks: z
      .array(z.object({ name, command, timeout_seconds }))
      .describe('The checks, in the order in which they run'),
    updated_at: z.iso.datetime().nullable().describe('Time of the last change; null: never'),
    updated_by: z.int().nullable().describe('The user who set them last'),
  })
  .meta({
    id: 'CheckCommands',
    examples: [
      {
        checks: [{ name: 'test', command: 'npm test', timeout_seconds: 600 }],
        updated_at: '2026-11-20T10:30:00.000Z',
        updated_by: 1,
      },
    ],
  })

export const CheckCommandsInput = z
  .object({
    checks: z
      .array(z.object({ name, command, timeout_seconds: timeout_seconds.default(600) }))
      .max(limits.check_commands)
      .refine(
        checks => new Set(checks.map(check => check.name)).size === checks.length,
        'must have names of their own',
      )
      .describe('The checks, in the order in which they run; an empty list: the service runs none'),
  })
  .meta({ id: 'CheckCommandsInput', examples: [{ checks: [{ name: 'test', command: 'npm test' }] }] })
export type CheckCommandsInput = z.output<typeof CheckCommandsInput>

const checkSources = ['local', 'github', 'gitea'] as const
export type CheckSource = (typeof checkSources)[number]
const checkStatuses = ['queued', 'in_progress', 'completed'] as const
export type CheckStatus = (typeof checkStatuses)[number]
/** GitHub's terms. */
export const checkConclusions = [
  ...['success', 'failure', 'neutral', 'cancelled', 'skipped'],
  ...['timed_out', 'action_required', 'startup_failure', 'stale'],
] as [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
  'startup_failure',
  'stale',
]
export type CheckConclusion = (typeof checkConclusions)[number]

const time = z.iso.datetime()

export const Check = z
  .object({
    id: z.int().describe('The check of this commit'),
    name: z.string().describe('Its name'),
    head_sha: z.string().describe('Its commit'),
    source: z
      .enum(checkSources)
      .describe('`local`: a command that the service runs; otherwise the forge that reported it'),
    app: z.string().nullable().describe('The app of the forge that ran it'),
    status: z.enum(checkStatuses).describe('Whether it has ended'),
    conclusion: z
      .enum(checkConclusions)
      .nullable()
      .describe('Its conclusion; null until it has ended. The values are those of GitHub'),
    url: z.string().nullable().describe('The page of the check'),
    log_excerpt: z
      .string()
      .nullable()
      .describe('The part of its output that explains the failure, with values of secrets redacted'),
    attempt: z.int().describe('Number of attempts for this commit'),
    started_at: time.nullable().describe('Time at which this attempt began; UTC, ISO 8601 with milliseconds'),
    completed_at: time.nullable().describe('Time of its end'),
  })
  .meta({ id: 'Check' })
export type Check = z.infer<typeof Check>

const unreadable = z
  .array(z.enum(['check_runs', 'app_check_runs', 'commit_statuses']))
  .describe(
    'Resources that the forge does not permit the connection to read, so that checks may be missing here; `missing_permissions` of the integration explains how to grant access',
  )

/**
 * The combined result of all checks of a commit. Checks that the repository's settings ignore do not count.
 */
export const ChecksSummary = z
  .object({
    state: z
      .enum(['none', 'pending', 'success', 'failure'])
      .describe(
        '`failure`: one has failed; `pending`: none has failed, and one has not ended; `none`: there are no checks',
      ),
    passed: z.int().describe('Number of checks that passed; `neutral` and `skipped` count as `success`'),
    failed: z.int().describe('Number of checks that failed'),
    pending: z.int().describe('Number of checks that have not ended'),
    unreadable,
  })
  .meta({ id: 'ChecksSummary' })
export type ChecksSummary = z.infer<typeof ChecksSummary>

const example_sha = '3b8f0f1c2d7e4a5b9c6d8e7f0a1b2c3d4e5f6a7b'

export const PullRequestChecks = ChecksSummary.extend({
  head_sha: z.string().describe('The commit of the checks'),
  items: z.array(Check).describe('Sorted by name, including ignored ones'),
}).meta({
  id: 'PullRequestChecks',
  examples: [
    {
      state: 'failure',
      passed: 0,
      failed: 1,
      pending: 0,
      unreadable: [],
      head_sha: example_sha,
      items: [
        {
          id: 5,
          name: 'test',
          head_sha: example_sha,
          source: 'local',
          app: null,
          status: 'completed',
          conclusion: 'failure',
          url: 'http://127.0.0.1:4600/agent/trace/12',
          log_excerpt: 'AssertionError: 1 !== 2',
          attempt: 1,
          started_at: '2026-11-20T10:30:00.000Z',
          completed_at: '2026-11-20T10:30:04.000Z',
        },
      ],
    },
  ],
})

export const PullRequestChecksQuery = z.object({
  head_sha: z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'must be a whole commit SHA')
    .optional()
    .describe('Another commit of the repository; absent: the head of the pull request'),
})
export type PullRequestChecksQuery = z.output<typeof PullRequestChecksQuery>
