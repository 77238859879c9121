import { lazy, Suspense } from 'react'
import { callFailed } from '../../trace/entry-summary.ts'
import { isObject, numberAt, objectsAt, textAt } from '../../trace/fields.ts'
import { toolKind } from '../../trace/tool-kind.ts'
import { Markdown } from '../markdown.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { PlainText } from '../plain-text.tsx'
import { JsonView } from './json-view.tsx'
import { Terminal } from './terminal.tsx'

const EditDiff = lazy(() =>
  import('./edit-diff.tsx').then(({ EditDiff }) => ({ default: EditDiff }), missing),
)
const PatchDiff = lazy(() =>
  import('./edit-diff.tsx').then(({ PatchDiff }) => ({ default: PatchDiff }), missing),
)
const missing = () => ({ default: NotLoaded })

type Props = {
  tool_name: string | null
  input: unknown
  output: unknown
  open: boolean
  /** Whether later steps follow: then the output of a command that succeeded is closed. */
  passed: boolean
  on_toggle: () => void
}

/** The content of a tool's card. Closed, it shows what fits in a few lines; `open` shows everything. */
export function ActionBody({ tool_name, input, output, open, passed, on_toggle }: Props) {
  const kind = toolKind(tool_name, input)
  const failed = callFailed(output)
  if (passed && !open && !failed && kind === 'shell') return null
  const text = kind === 'search' ? matches(output) : (textAt(output, 'output', 'content', 'text') ?? '')
  const message = textAt(output, 'error')
  const failure =
    message && message !== text ? <PlainText text={message} className="text-bad text-xs" /> : null
  const terminal = (all: boolean) => (
    <Terminal text={text} open={all} on_toggle={on_toggle} note={truncation(output)} failed={failed} />
  )
  if (kind === 'question') return <Markdown text={textAt(input, 'question') ?? ''} />
  if (kind === 'shell') {
    const command = textAt(input, 'command') ?? ''
    return (
      <>
        {open && (command.includes('\n') || command.length > 80) && (
          <JsonView title="Command" value={command} />
        )}
        {terminal(open)}
        {failure}
      </>
    )
  }
  if (kind === 'edit' || kind === 'write') {
    const edits = objectsAt(input, 'edits')
    const given = edits.length > 0 || textAt(input, 'old', 'new', 'content') !== null
    const several = given ? edits : objectsAt(output, 'changed')
    const patch = textAt(input, 'patch')
    if (patch !== null)
      return (
        <Suspense>
          <PatchDiff patch={patch} open={open} on_toggle={on_toggle} />
          {failure}
        </Suspense>
      )
    return (
      <Suspense>
        {(several.length > 0 ? several : [input]).map((edit, index) => (
          <EditDiff
            // biome-ignore lint/suspicious/noArrayIndexKey: the edits of one call are never reordered
            key={index}
            before={textAt(edit, 'old') ?? ''}
            after={textAt(edit, 'new', 'content') ?? ''}
            open={open}
            on_toggle={on_toggle}
          />
        ))}
        {failure}
      </Suspense>
    )
  }
  if (!open) return failure
  if (kind !== 'tool' && text) {
    return (
      <>
        {terminal(true)}
        {failure}
      </>
    )
  }
  return (
    <div className="space-y-2">
      <JsonView title="Input" value={input} />
      <JsonView title="Output" value={text || output} />
    </div>
  )
}

function matches(output: unknown): string {
  const lines = isObject(output) && Array.isArray(output.matches) ? output.matches : []
  return lines.filter(line => typeof line === 'string').join('\n')
}

function truncation(output: unknown): string | null {
  if (!isObject(output) || output.truncated !== true) return null
  const bytes = numberAt(output, 'output_bytes')
  return `Output truncated${bytes === null ? '' : `: ${bytes.toLocaleString('en')} bytes in total`}`
}
