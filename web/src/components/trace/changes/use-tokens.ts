import { useQuery } from '@tanstack/react-query'
import type { FileData, HunkTokens } from 'react-diff-view'
import { digestOf } from '../../../trace/changes/digest.ts'
import { languageOf } from '../../../trace/changes/language.ts'
import { highlightPatch, MAX_HIGHLIGHTED } from './highlighter.ts'

/** The library reserves memory for all lines of a file. */
const MAX_LINE = 20_000

/**
 * The tokens of each part of a patch; null while they are computed, and for files that are not highlighted.
 */
export function useTokens(path: string, patch: string, parts: FileData[]): HunkTokens[] | null {
  const language = languageOf(path)
  const fits =
    patch.length <= MAX_HIGHLIGHTED &&
    parts.every(({ hunks }) =>
      hunks.every(
        hunk => hunk.newStart + hunk.newLines <= MAX_LINE && hunk.oldStart + hunk.oldLines <= MAX_LINE,
      ),
    )
  const { data } = useQuery({
    queryKey: ['tokens', language, digestOf(patch)],
    queryFn: () => highlightPatch(patch, language ?? ''),
    enabled: language !== null && fits && parts.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return data ?? null
}
