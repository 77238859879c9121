import { z } from 'zod'
import { decimal, flag } from './decimal.ts'
import { limits } from './limits.ts'
import { text } from './text.ts'

/** Log types (spec §Log types). */
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
  .meta({ id: 'MessageType' })
export type MessageType = z.infer<typeof MessageType>

const json = z.record(z.string(), z.unknown())

/** One entry of a run's trace: the eight keys of spec §Agent run log entry, always present, and ours (decisions §5). */
export const LogEntry = z
  .object({
    agent_run_id: z.int(),
    seq: z.int().describe('Gap-free position in the run, from 1'),
    created_at: z.iso.datetime(),
    message_type: MessageType,
    thought: z.string().nullable(),
    tool_name: z.string().nullable(),
    tool_input: json.nullable().describe('What the tool was given; for the built-in tools see the schemas `Tool_…`'),
    tool_output: json.nullable(),
    observation: z.union([json, z.string()]).nullable(),
    turn: z.int(),
    duration_ms: z.int().nullable(),
    truncated: z.boolean(),
    artifact_url: z.string().nullable(),
  })
  .meta({ id: 'AgentRunLogEntry' })
export type LogEntry = z.infer<typeof LogEntry>

export const ListLogsQuery = z.object({
  skip: decimal(0, limits.page_skip).default(0).describe('Number of logs to skip'),
  limit: decimal(1, limits.page_limit).default(100).describe('Max number of logs returned'),
  reverse: flag().optional().describe('Newest first'),
  after_seq: decimal(0, limits.page_skip).optional(),
  before_seq: decimal(0, limits.page_skip).optional(),
  message_type: MessageType.optional(),
  tool_name: text(1, 100).optional(),
  q: text(1, 200).optional().describe('Text anywhere in the entry'),
})
export type ListLogsQuery = z.output<typeof ListLogsQuery>

/** spec §Agent run with logs. */
export const RunWithLogs = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    status: z.string(),
    created_at: z.iso.datetime(),
    web_url: z.string(),
    result: z.string(),
    metadata: json.nullable(),
    logs: z.array(LogEntry),
    total_logs: z.int(),
    filtered_total: z.int().optional().describe('Only with a filter: number of entries that match'),
    page: z.int(),
    size: z.int(),
    pages: z.int(),
  })
  .meta({ id: 'AgentRunWithLogsResponse' })
