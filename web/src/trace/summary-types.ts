import type { ToolKind } from './tool-kind.ts'

export type EntryKind =
  | ToolKind
  | 'plan'
  | 'error'
  | 'user'
  | 'answer'
  | 'pull_request'
  | 'evaluation'
  | 'link'

export type Tone = 'neutral' | 'ok' | 'bad' | 'warn' | 'accent'

/** One line that summarizes an entry: safe to render as text. */
export type EntrySummary = {
  kind: EntryKind
  /** Two or three words: the tool, or the sort of entry. */
  label: string
  /** The rest of the line, at most `line_chars` characters. */
  line: string
  tone: Tone
  /** A short remark at the end of the line: `exit 1`, `+3 −1`. */
  note: string | null
}
