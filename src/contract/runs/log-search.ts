import { z } from 'zod'
import { decimal } from '../decimal.ts'
import { limits } from '../limits.ts'
import { several } from '../several.ts'
import { text } from '../text.ts'
import { failedFilter, MessageType } from './logs.ts'

export const SearchLogsQuery = z.object({
  q: text(1, 200).describe(
    'Text in the thought, the tool, its input, its output or the observation of an entry; the case does not matter',
  ),
  after_seq: decimal(0, limits.page_skip)
    .optional()
    .describe('Only entries with a greater `seq`: `searched_to` of the previous response'),
  message_type: several(MessageType).describe('Only entries of one of these kinds'),
  tool_name: several(text(1, 100)).describe('Only entries of one of these tools'),
  failed: failedFilter,
  limit: decimal(0, limits.page_limit)
    .optional()
    .describe('Largest number of `hits`, default 100; `seqs` does not depend on it'),
})
export type SearchLogsQuery = z.output<typeof SearchLogsQuery>

export const LogHit = z
  .object({
    seq: z.int().describe('The entry'),
    created_at: z.iso.datetime().describe('UTC, ISO 8601 with milliseconds'),
    turn: z.int().describe('Turn of the entry'),
    message_type: MessageType,
    tool_name: z.string().nullable().describe('Tool of the entry'),
    field: z
      .string()
      .describe(
        'Path of the first match, with dots between names: `tool_output.output`; empty when it spans several fields',
      ),
    snippet: z.string().describe('The text around the first match, at most 520 characters'),
    match_start: z.int().describe('Position of the match in `snippet`, in UTF-16 code units'),
    match_length: z.int().describe('Length of the match in UTF-16 code units'),
  })
  .meta({ id: 'AgentRunLogHit' })
export type LogHit = z.infer<typeof LogHit>

/** specification.md#logs. */
export const LogSearch = z
  .object({
    agent_run_id: z.int().describe('The run'),
    seqs: z
      .array(z.int())
      .describe(
        '`seq` of all matching entries that were searched, ascending, at most 10,000: their number and order give "3 of 412"',
      ),
    hits: z
      .array(LogHit)
      .describe('The first `limit` of `seqs`, with the text around the first match of each'),
    searched_to: z
      .int()
      .describe('`seq` of the last entry that was searched; continue with it as `after_seq`'),
    complete: z
      .boolean()
      .describe('Whether all entries up to `total_logs` were searched; otherwise continue'),
    total_logs: z.int().describe('Number of entries of the run when the search started'),
  })
  .meta({
    id: 'AgentRunLogSearch',
    examples: [
      {
        agent_run_id: 1,
        seqs: [4],
        hits: [
          {
            seq: 4,
            created_at: '2026-11-20T10:30:02.000Z',
            turn: 1,
            message_type: 'ACTION',
            tool_name: 'shell',
            field: 'tool_output.output',
            snippet: 'Error: expected 3 to equal 4',
            match_start: 0,
            match_length: 5,
          },
        ],
        searched_to: 9,
        complete: true,
        total_logs: 9,
      },
    ],
  })
export type LogSearch = z.infer<typeof LogSearch>
