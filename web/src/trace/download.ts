import { call, core } from '../api/client.ts'

/** Every entry of a run as JSON lines, page by page. `on_progress` gets the number of entries so far. */
export async function traceAsJsonl(
  agent_run_id: number,
  on_progress: (entries: number) => void,
): Promise<Blob> {
  const lines: string[] = []
  for (let after = 0; ; ) {
    const { logs } = await call('getAgentRunLogs', {
      params: { agent_run_id },
      query: { after_seq: after, limit: 100 },
    })
    for (const entry of logs) lines.push(`${JSON.stringify(entry)}\n`)
    on_progress(lines.length)
    const last = logs.at(-1)
    if (!last || logs.length < 100) return new Blob(lines, { type: 'application/jsonl' })
    after = last.seq
  }
}

/** The id in the address of an artifact, wherever the service is reached by; null when it is none. */
export function artifactId(artifact_url: string): number | null {
  const id = /\/v1\/organizations\/\d+\/artifacts\/(\d{1,15})$/.exec(artifact_url)?.[1]
  return id === undefined ? null : Number(id)
}

/** The whole output of a tool, with the name that the service gives it. */
export async function artifactFile(artifact_id: number): Promise<{ blob: Blob; name: string }> {
  const response = await core.request('getArtifact', { params: { artifact_id } })
  const name = /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
  return { blob: await response.blob(), name: name ?? `artifact-${artifact_id}.txt` }
}
