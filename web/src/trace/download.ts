import { call } from '../api/call.ts'

/** Every entry of a run as JSON lines, page by page. `on_progress` gets the number of entries so far. */
export async function traceAsJsonl(agent_run_id: number, on_progress: (entries: number) => void): Promise<Blob> {
  const lines: string[] = []
  for (let after = 0; ; ) {
    const { logs } = await call('getAgentRunLogs', { params: { agent_run_id }, query: { after_seq: String(after), limit: '100' } })
    for (const entry of logs) lines.push(`${JSON.stringify(entry)}\n`)
    on_progress(lines.length)
    const last = logs.at(-1)
    if (!last || logs.length < 100) return new Blob(lines, { type: 'application/jsonl' })
    after = last.seq
  }
}
