import type { CompactionRecord } from '../../agent/journal.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { countedTokens } from '../../core/runs/budget/limits.ts'
import { entriesOfCalls } from '../../store/runs/journal.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { deltaOf, record } from './journal-records.ts'

/**
 * Records a compaction and its entry, in one transaction. The entry names the entries that it replaced for
 * the model: they stay in the trace. A fork has the replaced entries of its first run only there, so
 * `replaced` is null.
 */
export async function recordCompaction(
  writer: RunWriter,
  model: string,
  compacted: CompactionRecord,
): Promise<void> {
  const { compaction, usage, replaced, duration_ms } = compacted
  const { cause, limit_tokens, tokens_before, tokens_after, clear_through, summary } = compaction
  const range =
    replaced &&
    (await entriesOfCalls(writer.db, writer.organization_id, writer.run_id, replaced.first, replaced.last))
  const input = { cause, tokens: tokens_before, limit_tokens }
  const output = {
    status: 'ok',
    how: summary !== null ? 'summarized' : clear_through !== null ? 'cleared' : 'shortened',
    tokens: tokens_after,
    results: replaced?.results ?? 0,
    replaced: range ?? null,
    ...(summary && { summary: summary.text, summarized_by: summary.by }),
  }
  const tokens = usage === null ? 0 : countedTokens(usage)
  await writer.append({
    entries: [serviceAction(actionTool.context_compacted, input, output, duration_ms)],
    records: [record('compacted', null, { compaction, tokens })],
    ...(usage && { usage: deltaOf(model, 0, usage) }),
    reserved_usd: '0',
  })
}
