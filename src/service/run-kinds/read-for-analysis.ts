import type { SandboxKind } from '../../contract/repositories/sandboxes.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import type { LogFinding } from '../../contract/runs/log-analysis.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { entryUrl, traceUrl } from '../../core/runs/trace-url.ts'
import { yieldToOthers } from '../../core/yield-to-others.ts'
import { type AnalyzedRun, analyzeRun, type RunAnalysis } from '../../log-analysis/analyze-run.ts'
import { analyzeRuns } from '../../log-analysis/analyze-runs.ts'
import type { Entry, Finding } from '../../log-analysis/finding.ts'
import { fitting } from '../../log-analysis/result.ts'
import { type AnalyzedAmount, summarize } from '../../log-analysis/summary.ts'
import { listEntriesToAnalyze } from '../../store/runs/log-analysis.ts'
import { type SandboxRow, sandboxesOfRuns } from '../../store/workspaces/sandboxes.ts'
import type { Context } from '../context.ts'

/**
 * Limits of one run, and of all analyzed runs. The end of a trace is more informative than its beginning when
 * it is too long.
 */
const MAX_ENTRIES = 5_000
const MAX_BYTES = { run: 4 * 1024 * 1024, all: 12 * 1024 * 1024 }
const PAGE = 200

/** The entries of a trace that are analyzed: of a sandbox, or all. */
export type Part = { run: AnalyzedRun; first_seq: number; last_seq: number; kind: SandboxKind | null }
export type FirstPass = { message: string; findings: LogFinding[]; looked_at: AnalyzedAmount }

/** Returns what rules find in traces, without a model. Null: there are no entries to analyze. */
export async function firstPass(
  ctx: Context,
  parts: readonly Part[],
  left_out: readonly string[],
): Promise<FirstPass | null> {
  const analyses: RunAnalysis[] = []
  const looked_at: AnalyzedAmount = { runs: 0, entries: 0, commands: 0, left_out: [...left_out] }
  const tools = new Map<string, string | null>()
  let left_bytes = MAX_BYTES.all
  for (const part of parts) {
    if (left_bytes <= 0) {
      looked_at.left_out.push(`${parts.length - looked_at.runs} older runs, because of their size`)
      break
    }
    const { entries, bytes, cut_at } = await read(ctx, part, Math.min(left_bytes, MAX_BYTES.run))
    left_bytes -= bytes
    if (cut_at !== null)
      looked_at.left_out.push(`entries of run ${part.run.id} before #${cut_at}, because of their size`)
    for (const { agent_run_id, seq, tool_name } of entries) tools.set(`${agent_run_id} ${seq}`, tool_name)
    const analysis = await analyzeRun(part.run, entries, yieldToOthers)
    looked_at.runs++
    looked_at.entries += entries.length
    looked_at.commands += analysis.commands
    analyses.push(analysis)
  }
  if (looked_at.entries === 0) return null
  const sandboxes = await sandboxesOfRuns(
    ctx.db,
    ctx.organization_id,
    analyses.map(({ run }) => run.id),
  )
  const shown = analyzeRuns(analyses).map(one =>
    shownFinding(one, sandboxes, tools.get(`${one.agent_run_id} ${one.seq}`) ?? null, ctx.base_url),
  )
  const { findings, left_out: too_many } = fitting(shown)
  if (too_many > 0) looked_at.left_out.push(`${too_many} less important findings`)
  return { message: summarize(findings, looked_at), findings, looked_at }
}

async function read(ctx: Context, { run, first_seq, last_seq, kind }: Part, max_bytes: number) {
  const entries: Entry[] = []
  let bytes = 0
  for (let before_seq = last_seq + 1; ; ) {
    const rows = await listEntriesToAnalyze(
      ctx.db,
      ctx.organization_id,
      run.id,
      { first_seq, before_seq, kind },
      PAGE,
    )
    for (const { seq, tool_name, body } of rows) {
      bytes += body?.length ?? 0
      if (bytes > max_bytes || entries.length >= MAX_ENTRIES)
        return { entries: entries.reverse(), bytes, cut_at: seq + 1 }
      entries.push(body === null ? silent(run.id, seq, tool_name) : storedJson<Entry>(body))
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return { entries: entries.reverse(), bytes, cut_at: null }
    before_seq = last.seq
  }
}

/** An entry whose content does not matter. */
const silent = (agent_run_id: number, seq: number, tool_name: string | null): Entry => ({
  agent_run_id,
  seq,
  tool_name,
  turn: 1,
  message_type: 'ACTION',
  tool_input: null,
  tool_output: null,
  observation: null,
  duration_ms: null,
})

function shownFinding(
  one: Finding,
  sandboxes: readonly SandboxRow[],
  tool: string | null,
  base_url: string,
): LogFinding {
  const { agent_run_id, seq } = one
  const around = sandboxes.filter(
    row =>
      row.run_id === agent_run_id &&
      seq !== null &&
      row.first_seq <= seq &&
      seq <= (row.last_seq ?? Number.POSITIVE_INFINITY),
  )
  const kind = tool === actionTool.setup_command ? 'setup' : tool === actionTool.check ? 'check' : 'agent'
  const sandbox = around.findLast(row => row.kind === kind) ?? around.at(-1)
  const url = seq === null ? traceUrl(base_url, agent_run_id) : entryUrl(base_url, agent_run_id, seq)
  return { ...one, sandbox_id: sandbox?.id ?? null, url }
}
