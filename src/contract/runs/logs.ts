import { z } from 'zod'
import { decimal, flag } from '../decimal.ts'
import { limits } from '../limits.ts'
import { pageQuery } from '../page.ts'
import { several } from '../several.ts'
import { text } from '../text.ts'
import { exampleEntry, exampleRun } from './example-run.ts'

/** Log types (specification.md#logs). */
export const MessageType = z
  .enum([
    'ACTION',
    'PLAN_EVALUATION',
    'FINAL_ANSWER',
    'ERROR',
    'USER_MESSAGE',
    'USER_GITHUB_ISSUE_COMMENT',
    'INITIAL_PR_GENERATION',
    'DETECT_PR_ERRORS',
    'FIX_PR_ERRORS',
    'PR_CREATION_FAILED',
    'PR_EVALUATION',
    'COMMIT_EVALUATION',
    'AGENT_RUN_LINK',
  ])
  .meta({ id: 'MessageType', description: 'Kind of the entry' })
export type MessageType = z.infer<typeof MessageType>

const json = z.record(z.string(), z.unknown())

/**
 * One entry of a run's trace: the eight keys of specification.md#logs, always present, and additional ones.
 */
export const LogEntry = z
  .object({
    agent_run_id: z.int().describe('The run'),
    seq: z.int().describe('Gap-free position in the run, from 1'),
    created_at: z.iso.datetime().describe('UTC, ISO 8601 with milliseconds'),
    message_type: MessageType,
    thought: z.string().nullable().describe('Text of the agent about this step'),
    tool_name: z.string().nullable().describe('The tool of an ACTION, or of an ERROR during one'),
    tool_input: json
      .nullable()
      .describe(
        'The input of the tool, long texts truncated in the middle; for the built-in tools see the schemas `Tool_…`',
      ),
    tool_output: json
      .nullable()
      .describe('The output of the tool; of `shell`: `status`, `exit_code`, `output`, `truncated`'),
    observation: z
      .union([json, z.string()])
      .nullable()
      .describe('The observation; its shape depends on `message_type`'),
    turn: z.int().describe('1 for the first prompt, incremented with each new turn'),
    duration_ms: z.int().nullable().describe('Milliseconds it took'),
    truncated: z.boolean().describe('Whether a long output was truncated'),
    redactions: z
      .record(z.string(), z.int())
      .optional()
      .describe(
        'Number of values that this entry contains as `[redacted:NAME]`, by name: of a secret, or of a credential-shaped text; absent when there is none',
      ),
    artifact_url: z
      .string()
      .nullable()
      .describe(
        'Address of the whole output of a truncated one: head and tail of an output over 1 MiB; null when the outputs of the run have used up their 32 MiB',
      ),
  })
  .meta({ id: 'AgentRunLogEntry', examples: [exampleEntry] })
export type LogEntry = z.infer<typeof LogEntry>

export const failedFilter = flag()
  .optional()
  .describe(
    'Only entries that report a failure, as the timeline counts them: errors, failed tool calls, failed checks and refused reviews; `false`: only others',
  )

export const ListLogsQuery = z.object({
  ...pageQuery,
  skip: pageQuery.skip.meta({ description: 'Number of logs to skip', default: 0 }),
  limit: pageQuery.limit.meta({ description: 'Max number of logs returned', default: 100 }),
  reverse: flag().optional().describe('Newest first'),
  after_seq: decimal(0, limits.page_skip).optional().describe('Only entries with a greater `seq`'),
  before_seq: decimal(0, limits.page_skip).optional().describe('Only entries with a smaller `seq`'),
  message_type: several(MessageType).describe('Only entries of one of these kinds'),
  tool_name: several(text(1, 100)).describe('Only entries of one of these tools'),
  failed: failedFilter,
  q: text(1, 200).optional().describe('Text anywhere in the entry'),
})
export type ListLogsQuery = z.output<typeof ListLogsQuery>

/** specification.md#logs. */
export const RunWithLogs = z
  .object({
    id: z.int().describe('The run'),
    organization_id: z.int().describe('The organization of the run'),
    status: z.string().describe('As in the run object'),
    created_at: z.iso.datetime().describe('UTC, ISO 8601 with milliseconds'),
    web_url: z.string().describe('The run in the web interface'),
    result: z.string().describe('As in the run object'),
    metadata: json.nullable().describe('As set by the request that created it'),
    logs: z.array(LogEntry).describe('Entries of this page, oldest first unless `reverse`'),
    total_logs: z.int().describe('Number of entries of the run, regardless of the filter'),
    filtered_total: z.int().optional().describe('Only with a filter: number of entries that match'),
    page: z.int().describe('1-based: `floor(skip / limit) + 1`'),
    size: z.int().describe('The requested `limit`'),
    pages: z.int().describe('Number of such pages'),
  })
  .meta({
    id: 'AgentRunWithLogsResponse',
    examples: [
      {
        id: exampleRun.id,
        organization_id: 1,
        status: exampleRun.status,
        created_at: exampleRun.created_at,
        web_url: exampleRun.web_url,
        result: exampleRun.result,
        metadata: exampleRun.metadata,
        logs: [exampleEntry],
        total_logs: exampleRun.total_logs,
        page: 5,
        size: 1,
        pages: 9,
      },
    ],
  })
