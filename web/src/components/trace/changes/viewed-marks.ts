import type { RunDiff } from '../../../../../src/contract/runs/run-diff.ts'
import { digestOf } from '../../../trace/changes/digest.ts'
import { useDraft } from '../../../ui/draft.ts'

type File = RunDiff['files'][number]

/** The files of a diff that a person has viewed, as they were then. */
export type ViewedMarks = {
  has: (file: File, patch: string | null) => boolean
  set: (file: File, patch: string | null, on: boolean) => void
}

/** The marks for a run, kept in this tab. */
export function useViewedMarks(agent_run_id: number): ViewedMarks {
  const marks = useDraft(`viewed ${agent_run_id}`, marksOf)
  return {
    has: (file, patch) => marks.value[file.path] === digestOf(patch ?? ''),
    set: (file, patch, on) =>
      marks.set(({ [file.path]: _, ...others }) =>
        on ? { ...others, [file.path]: digestOf(patch ?? '') } : others,
      ),
  }
}

const marksOf = (stored: unknown): Record<string, string> =>
  typeof stored === 'object' && stored !== null
    ? Object.fromEntries(
        Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {}
