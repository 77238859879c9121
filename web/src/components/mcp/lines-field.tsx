import { Field, TextArea } from '../../ui/field.tsx'
import type { ServerDraft } from './server-draft.ts'

export type DraftFields = {
  draft: ServerDraft
  set(change: Partial<ServerDraft>): void
  /** Problems of the service by field. */
  problems: Record<string, string>
}

type LinesProps = {
  label: string
  hint: string
  problem: string | undefined
  value: string
  on_change(text: string): void
}

/** A list with one item in each line. */
export const Lines = ({ label, hint, problem, value, on_change }: LinesProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {props => (
      <TextArea
        {...props}
        rows={3}
        spellCheck={false}
        className="font-mono text-xs"
        value={value}
        onChange={event => on_change(event.target.value)}
      />
    )}
  </Field>
)
