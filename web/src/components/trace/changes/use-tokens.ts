import { useQuery } from '@tanstack/react-query'
import type { FileData, HunkTokens } from 'react-diff-view'
import { digestOf } from '../../../trace/changes/digest.ts'
import { languageOf } from '../../../trace/changes/language.ts'
import type { HighlightRequest, HighlightResult } from './highlight-worker.ts'

/** The grammars are regular expressions, and the text may be hostile: a worker that takes longer is ended. */
const TIMEOUT_MS = 3_000
const MAX_PATCH_CHARS = 200_000
/** The library reserves memory for all lines of a file. */
const MAX_LINE = 20_000

let worker: Worker | null = null
let last_id = 0

/** Highlights a patch outside of the page's thread. Null when that fails or takes too long. */
function highlight(patch: string, language: string): Promise<HunkTokens[] | null> {
  worker ??= new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  const current = worker
  const id = ++last_id
  return new Promise(resolve => {
    const finished = new AbortController()
    const end = (tokens: HunkTokens[] | null) => {
      clearTimeout(timer)
      finished.abort()
      resolve(tokens)
    }
    const fail = () => {
      current.terminate()
      if (worker === current) worker = null
      end(null)
    }
    const timer = setTimeout(fail, TIMEOUT_MS)
    const { signal } = finished
    current.addEventListener('message', ({ data }: MessageEvent<HighlightResult>) => data.id === id && end(data.tokens), { signal })
    current.addEventListener('error', fail, { signal })
    current.postMessage({ id, patch, language } satisfies HighlightRequest)
  })
}

/** The tokens of each part of a patch; null while they are computed, and for files that are not highlighted. */
export function useTokens(path: string, patch: string, parts: FileData[]): HunkTokens[] | null {
  const language = languageOf(path)
  const fits =
    patch.length <= MAX_PATCH_CHARS &&
    parts.every(({ hunks }) => hunks.every(hunk => hunk.newStart + hunk.newLines <= MAX_LINE && hunk.oldStart + hunk.oldLines <= MAX_LINE))
  const { data } = useQuery({
    queryKey: ['tokens', language, digestOf(patch)],
    queryFn: () => highlight(patch, language ?? ''),
    enabled: language !== null && fits && parts.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return data ?? null
}
