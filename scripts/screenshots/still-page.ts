/**
 * What makes a page look the same each time. The functions of this file run in the page, so each contains all that it needs. They replace
 * what a run measures: times, durations, sizes, costs (the scripted model has none), random ids and what belongs to this machine.
 */

/** The time of the pictures: the clock of the page, and the origin of all times in it. */
export const NOW = Date.parse('2026-11-16T10:30:00Z')

export type Replacements = {
  now: number
  /** The number of runs of the team; the newest is the highest. */
  runs: number
  /** Texts of responses and what is shown instead: paths and hosts of this machine, names of commits. */
  texts: [string, string][]
}

/** Rewrites the responses of the API before the page reads them. `window.pending` counts those that the page waits for. */
export function rewriteResponses({ now, runs, texts }: Replacements): void {
  type Place = { order: number; base: number }
  const minute = 60_000
  const runTime = (id: number) => now - Math.max(runs + 1 - id, 1) ** 3 * 3 * minute
  const durations: Record<string, number> = {
    ...{ queue_ms: 180, claim_ms: 30, mirror_ms: 140, clone_ms: 320, sandbox_ms: 210, setup_ms: 5_400 },
    ...{ first_model_byte_ms: 900, first_action_ms: 2_100, cpu_ms: 4_200, latency_ms: 42, last_latency_ms: 42 },
  }
  const sizes: Record<string, (order: number) => number> = {
    memory_bytes: order => (180 + ((order * 37) % 200)) * 2 ** 20,
    disk_bytes: order => (40 + ((order * 53) % 300)) * 2 ** 20,
    processes: order => 12 + (order % 7),
    cpu_ms: order => 4_200 + order * 310,
  }
  const counts: Record<string, (order: number) => number | string> = {
    input_tokens: order => 41_200 + order * 8_300,
    output_tokens: order => 2_100 + order * 410,
    cached_tokens: order => 33_000 + order * 6_600,
    cost_usd: order => (0.11 + order * 0.037).toFixed(2),
    known_cost_usd: order => (0.11 + order * 0.037).toFixed(2),
    active_seconds: order => 64 + order * 13,
    median_seconds_to_pull_request: () => 190,
    age_seconds: () => 5_400,
    duration_ms: order => 40 + ((order * 37) % 11) ** 3 * 9,
    start_ms: order => order * 260,
  }
  const limits: Record<string, number> = { memory_bytes: 4 * 2 ** 30, cpus: 2, disk_bytes: 10 * 2 ** 30 }
  const later = /^(expires|deadline|resets|next_attempt|sign_in_link_expires)_|_until$/
  const after: Record<string, number> = { started_at: 2_000, finished_at: 96_000, ended_at: 96_000, completed_at: 96_000, merged_at: 3_600_000 }
  const random: Record<string, string> = { hint: 'x7Qf', request_id: '6b1157e7-cd4f-4d47-ac26-97a6e7fa5ced' }

  const moment = (key: string, { base, order }: Place) =>
    new Date(later.test(key) ? now + (order % 9) * 1440 * minute + 95 * minute : Math.min(base + (after[key] ?? 0), now)).toISOString()
  const day = (key: string) => new Date(now).toISOString().slice(0, 10).replace(/\d\d$/, day => (/^(from|first_day)$/.test(key) ? '01' : day))

  function scalar(value: unknown, key: string, parent: string, place: Place): unknown {
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(key, place)
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)) return day(key)
    if (value !== null && random[key] && parent !== 'tool_input') return random[key]
    if (key === 'message_id') return `msg_${String(place.order).padStart(4, '0')}8adcf391e7ad439d836e2069fc2a`
    if (key === 'digest' || (key === 'key' && parent === 'tool_input')) return 'c89228144202f6a004e028e715b35578'
    if (value === null) return null
    if (parent === 'limits' && typeof value === 'number') return limits[key] ?? value
    if (parent === 'peaks' && sizes[key]) return sizes[key](place.order)
    if (durations[key] !== undefined) return durations[key]
    if (counts[key]) return counts[key](place.order)
    return value
  }

  /** Where an object is in time: by the run that it belongs to, else by its own number. */
  function placeOf(item: Record<string, unknown>, { base, order }: Place): Place {
    const own = [item.seq, item.id, order].find((number): number is number => typeof number === 'number') ?? 0
    if (typeof item.agent_run_id === 'number') return { order: own, base: runTime(item.agent_run_id) + own * 4_000 }
    if ('source_type' in item && typeof item.id === 'number') return { order: own, base: runTime(item.id) }
    if (typeof item.runs === 'number') return { order: item.runs * item.runs * 0.6, base }
    if (typeof item.id === 'number' && base === 0) return { order: own, base: now - 25 * 1440 * minute + own * 360 * minute }
    return { order: own, base }
  }

  function still(value: unknown, key = '', parent = '', place: Place = { order: 0, base: 0 }): unknown {
    if (Array.isArray(value)) return value.map((item, index) => still(item, key, parent, { ...place, order: place.order || index }))
    if (value === null || typeof value !== 'object') {
      return scalar(value, key, parent, place.base === 0 ? { ...place, base: now - 1440 * minute } : place)
    }
    const item = value as Record<string, unknown>
    const own = placeOf(item, place)
    if (item.check === 'limits') return { ...item, state: 'ok', detail: 'memory, processors and processes by cgroup v2', fix: null }
    return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, still(inner, name, key, own)]))
  }

  const rewritten = (json: string) => {
    const here = texts.reduce((text, [from, to]) => text.replaceAll(from, to), json)
    const steady = here.replace(/(duration_ms |\()\d+\.\d+/g, '$10.4').replace(/\d of 4 slots/, '1 of 4 slots')
    return JSON.stringify(still(JSON.parse(steady)))
  }

  function frames(): TransformStream<string, string> {
    let rest = ''
    return new TransformStream({
      transform(chunk, controller) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines)
          controller.enqueue(`${line.startsWith('data: {') ? `data: ${rewritten(line.slice('data: '.length))}` : line}\n`)
      },
    })
  }

  const page = globalThis as unknown as { pending: number; fetch: typeof fetch }
  const original = page.fetch
  page.pending = 0
  page.fetch = async (input, init) => {
    page.pending++
    try {
      const response = await original(input, init)
      const { status, headers } = response
      const type = headers.get('content-type') ?? ''
      if (type.includes('event-stream') && response.body) {
        const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(frames()).pipeThrough(new TextEncoderStream())
        return new Response(body, { status, headers })
      }
      if (!type.includes('json') || response.url.endsWith('/openapi.json')) return response
      const text = await response.text()
      return new Response(text && rewritten(text), { status, headers })
    } finally {
      page.pending--
    }
  }
}

/** Adds the fonts that the style of the page names first, so that no font of the machine is used. */
export function addFonts(fonts: { family: string; base64: string }[]): void {
  const { document, FontFace } = globalThis as unknown as {
    document: { fonts: { add(font: unknown): void } }
    FontFace: new (family: string, data: Uint8Array, options: { weight: string }) => { load(): Promise<unknown> }
  }
  for (const { family, base64 } of fonts) {
    const font = new FontFace(family, Uint8Array.from(atob(base64), letter => letter.charCodeAt(0)), { weight: '100 900' })
    void font.load()
    document.fonts.add(font)
  }
}
