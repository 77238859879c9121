// biome-ignore-all lint/suspicious/noExplicitAny: tests read responses of many shapes
import type { App } from '../start-app.ts'

const runPath = (app: App, id: number) => `/v1/organizations/${app.org_id}/agent/run/${id}`

/**
 * Follows a run's own stream until its run object fits, and returns that object. Fails when the stream ends
 * first.
 */
export async function awaitRun(app: App, id: number, fits: (run: any) => boolean): Promise<any> {
  for await (const { event, data } of followRun(app, id)) if (event === 'run' && fits(data)) return data
  throw new Error('the stream ended before the run was as expected')
}

export const awaitEnd = (app: App, id: number) => awaitRun(app, id, run => run.terminal)

/** The run's events as they come; closes the stream when the caller stops reading. */
export async function* followRun(
  app: App,
  id: number,
  after_seq = 0,
): AsyncGenerator<{ event: string; id: string | null; data: any }> {
  const abort = new AbortController()
  const response = await fetch(`${app.base_url}${runPath(app, id)}/events?after_seq=${after_seq}`, {
    headers: { authorization: `Bearer ${app.token}` },
    signal: abort.signal,
  })
  if (!response.body) throw new Error(`no stream: ${response.status}`)
  try {
    let rest = ''
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + text).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) {
        const field = (name: string) =>
          frame
            .split('\n')
            .find(line => line.startsWith(`${name}: `))
            ?.slice(name.length + 2) ?? null
        const data = field('data')
        if (data !== null)
          yield { event: field('event') ?? 'message', id: field('id'), data: JSON.parse(data) }
      }
    }
  } finally {
    abort.abort()
  }
}

export async function createRun(app: App, body: Record<string, unknown>): Promise<any> {
  const result = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, body)
  if (result.status !== 200)
    throw new Error(`create responded with ${result.status}: ${JSON.stringify(result.body)}`)
  return result.body
}

/** The whole trace, by paging. */
export async function allLogs(app: App, id: number): Promise<any[]> {
  const logs: any[] = []
  for (;;) {
    const { body } = await app.call('GET', `${runPath(app, id)}/logs?skip=${logs.length}&limit=100`)
    logs.push(...body.logs)
    if (body.logs.length < 100) return logs
  }
}
