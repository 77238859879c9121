import type { HunkTokens } from 'react-diff-view'
import type { HighlightedPart, HighlightRequest, HighlightResult } from './highlight-worker.ts'

/** The grammars are regular expressions, and the text may be hostile: a worker that takes longer is ended. */
const TIMEOUT_MS = 3_000
/** Characters; a longer text is not highlighted. */
export const MAX_HIGHLIGHTED = 200_000

let worker: Worker | null = null
let last_id = 0

/** Highlights outside of the page's thread. Null when that fails or takes too long. */
function highlight(
  request: { language: string } & ({ patch: string } | { text: string }),
): Promise<HighlightResult | null> {
  worker ??= new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  const current = worker
  const id = ++last_id
  return new Promise(resolve => {
    const finished = new AbortController()
    const end = (result: HighlightResult | null) => {
      clearTimeout(timer)
      finished.abort()
      resolve(result)
    }
    const fail = () => {
      current.terminate()
      if (worker === current) worker = null
      end(null)
    }
    const timer = setTimeout(fail, TIMEOUT_MS)
    const { signal } = finished
    current.addEventListener(
      'message',
      ({ data }: MessageEvent<HighlightResult>) => data.id === id && end(data),
      { signal },
    )
    current.addEventListener('error', fail, { signal })
    current.postMessage({ id, ...request } satisfies HighlightRequest)
  })
}

/** Returns the tokens of each part of a patch; null: it is not highlighted. */
export const highlightPatch = async (patch: string, language: string): Promise<HunkTokens[] | null> =>
  (await highlight({ patch, language }))?.tokens ?? null

/** Returns a text in parts with their classes; null: it is not highlighted. */
export const highlightText = async (text: string, language: string): Promise<HighlightedPart[] | null> =>
  (await highlight({ text, language }))?.parts ?? null
