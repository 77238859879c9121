import { z } from 'zod'
import { limits } from '../limits.ts'
import { text } from '../text.ts'
import { RunStatus } from './runs.ts'

const seq = z.int().min(1)

/** A finding in the entries of runs. Quotations come from the entry that `seq` names. */
export const LogFinding = z
  .object({
    code: z
      .string()
      .describe(
        'Kind of finding, for example `command_failed`, `failing_tests`, `node_module_not_found`, `flaky`',
      ),
    severity: z
      .enum(['error', 'warning', 'info'])
      .describe('`error`: it blocks the run; `warning`: it blocked the run earlier, or may block it'),
    message: z.string().describe('Message for people'),
    cause: z.string().nullable().describe('The cause, if known'),
    mend: z.string().nullable().describe('The fix'),
    agent_run_id: z.int().describe('The run of the entry'),
    sandbox_id: z.int().nullable().describe('The sandbox of the entry'),
    seq: seq.nullable().describe('The first entry; null: it concerns all of them'),
    url: z.string().describe('That entry in the web interface'),
    excerpt: z.string().nullable().describe('The quoted text, as printed'),
    count: z.int().describe('The number of occurrences'),
    entries: z.array(seq).describe('Other entries of the run with it'),
    agent_run_ids: z.array(z.int()).describe('Other runs with it'),
    command: z.string().nullable().describe('The command'),
    exit_code: z.int().nullable().describe('Its exit code; for a signal 128 plus its number'),
    tests: z
      .array(
        z.object({
          name: z.string().describe('The test, as its runner calls it'),
          location: z.string().nullable().describe('File and line, as they were printed'),
        }),
      )
      .describe('Tests that failed'),
  })
  .meta({ id: 'LogFinding' })
export type LogFinding = z.output<typeof LogFinding>

const AnalyzedAmount = z.object({
  runs: z.int().describe('Runs'),
  entries: z.int().describe('Entries of their traces'),
  commands: z.int().describe('Commands among them'),
  left_out: z.array(z.string()).describe('Parts that were not analyzed, as text'),
})

const example = {
  code: 'node_module_not_found',
  severity: 'error',
  message: 'A module is not found: express',
  cause: '`express` is not installed here, or the path of the import is wrong.',
  mend: 'A package: install what package.json lists (`npm ci`), and add it there if it is missing.',
  agent_run_id: 12,
  sandbox_id: 3,
  seq: 9,
  url: 'http://127.0.0.1:4600/agent/trace/12#e9',
  excerpt: "Error: Cannot find module 'express'",
  count: 1,
  entries: [],
  agent_run_ids: [],
  command: 'node app.js',
  exit_code: 1,
  tests: [],
} as const

export const LogAnalysis = z
  .object({
    agent_run_id: z
      .int()
      .describe('The run that analyzes: its result contains the explanation of a model, if there is one'),
    status: RunStatus,
    message: z.string().describe('Findings of the rules'),
    findings: z.array(LogFinding).describe('The findings one by one, the root cause first'),
    looked_at: AnalyzedAmount.describe('Extent of the analysis'),
    url: z.string().describe('Its trace page'),
  })
  .meta({
    id: 'AnalyzeLogsResponse',
    examples: [
      {
        agent_run_id: 13,
        status: 'queued',
        url: 'http://127.0.0.1:4600/agent/trace/13',
        message: 'A module is not found: express. (run 12, #9) Analyzed 4 commands in 17 entries.',
        findings: [{ ...example, entries: [], agent_run_ids: [], tests: [] }],
        looked_at: { runs: 1, entries: 17, commands: 4, left_out: [] },
      },
    ],
  })
export type LogAnalysis = z.output<typeof LogAnalysis>

const prompt = text(1, limits.rules_chars, { trim: true }).nullish().describe('The question for the model')

export const AnalyzeLogsInput = z
  .object({ prompt })
  .optional()
  .meta({ id: 'AnalyzeLogsInput', examples: [{ prompt: 'Why do the tests fail?' }] })
export type AnalyzeLogsInput = z.output<typeof AnalyzeLogsInput>

const moment = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 time with zone, for example 2026-11-20T10:30:00Z',
})

export const AnalyzeManyLogsInput = z
  .object({
    prompt,
    repo_id: z.int().min(0).nullish().describe('Only runs of this repository'),
    from: moment.nullish().describe('Only runs that were active later than this; default: a day before `to`'),
    to: moment.nullish().describe('Only runs that were active earlier than this; default: now'),
  })
  .optional()
  .meta({ id: 'AnalyzeManyLogsInput', examples: [{ repo_id: 7, from: '2026-11-19T10:30:00Z' }] })
export type AnalyzeManyLogsInput = z.output<typeof AnalyzeManyLogsInput>

/** The explanation of findings by a model, from one call of a tool. */
export const LogExplanation = z.object({
  explanation: z
    .string()
    .trim()
    .min(1)
    .max(8_000)
    .describe(
      'Markdown: what went wrong, why, and what to do. Entries are named as #12, and only those that are shown to you',
    ),
  references: z
    .array(z.object({ agent_run_id: z.int().describe('The run'), seq: seq.describe('Its entry') }))
    .max(50)
    .describe('The entries that prove it'),
})

export type LogExplanation = z.output<typeof LogExplanation>

const { $schema: _of_no_use_there, ...input_schema } = z.toJSONSchema(LogExplanation, { io: 'input' })
export const explanation_tool = {
  name: 'log_explanation',
  description: 'Says why it failed, and which entries prove that',
  input_schema,
}
