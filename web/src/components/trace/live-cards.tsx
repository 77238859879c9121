import { Gauge, LoaderCircle } from 'lucide-react'
import { duration } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { oneLine, toolLine } from '../../trace/entry-summary.ts'
import type { LiveLimit, LiveTool } from '../../trace/live-work.ts'
import { toolKind } from '../../trace/tool-kind.ts'
import { toolLabel } from '../../trace/tool-label.ts'
import { useNow } from '../../ui/now.ts'
import { AnsiText, PlainText } from '../plain-text.tsx'
import { EntryIcon } from './entry-icon.tsx'

const shown_chars = 4000

/** The text that the model is generating. */
export const LiveText = ({ reasoning, text }: { reasoning: string; text: string }) => (
  <article aria-label="The model is writing" data-testid="live-text" className="px-3 py-1.5 pl-9.5">
    {reasoning && <PlainText text={reasoning.slice(-shown_chars)} className="text-faint italic" />}
    {text && <PlainText text={text.slice(-shown_chars)} className="text-muted" />}
  </article>
)

/** Limits that the run is close to: its agent was instructed to finish. */
export const LiveNotice = ({ limits }: { limits: LiveLimit[] }) => (
  <article
    aria-label="Close to a limit"
    data-testid="live-notice"
    className="flex gap-2.5 px-3 py-1.5 text-warn text-xs"
  >
    <Gauge aria-hidden className="size-4 shrink-0" />
    <span>
      Close to its limits:{' '}
      {limits.map(({ limit, used, allowed }) => `${visible(limit)} ${used} of ${allowed}`).join(', ')}. The
      agent was instructed to finish.
    </span>
  </article>
)

/** A tool that is running, with the end of its output. */
export function LiveToolCard({ tool }: { tool: LiveTool }) {
  const now = useNow(true)
  const since = tool.started_at === '' ? 0 : now - Date.parse(tool.started_at)
  const name = tool.tool_name === '' ? 'A tool' : oneLine(toolLabel(tool.tool_name, false))
  return (
    <article aria-label={`${name} is running`} data-testid="live-tool" className="px-3 py-1.5">
      <div className="flex min-h-6 items-center gap-2.5">
        <EntryIcon kind={toolKind(tool.tool_name, tool.tool_input)} className="text-accent" />
        <span className="shrink-0 font-medium">{name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-muted text-xs">
          {oneLine(toolLine(tool.tool_name, tool.tool_input))}
        </span>
        <span className="tabular flex shrink-0 items-center gap-1.5 text-2xs text-accent">
          {tool.stale ? (
            <span className="text-muted">as of the last connection</span>
          ) : (
            <>
              <LoaderCircle aria-hidden className="size-3 animate-spin" /> running
              {since >= 1000 && ` ${duration(since)}`}
            </>
          )}
        </span>
      </div>
      {tool.output && (
        <pre className="ml-6.5 max-h-80 overflow-hidden whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]">
          <AnsiText text={lastLines(tool.output)} />
        </pre>
      )}
    </article>
  )
}

const lastLines = (output: string) => output.slice(-shown_chars).split('\n').slice(-14).join('\n')
