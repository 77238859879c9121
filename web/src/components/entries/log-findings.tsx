import { Link } from '@tanstack/react-router'
import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { numberAt, objectsAt, textAt } from '../../trace/fields.ts'
import { Terminal } from './terminal.tsx'

const styles: Record<string, { Icon: typeof Info; color: string }> = {
  error: { Icon: CircleAlert, color: 'text-bad' },
  warning: { Icon: TriangleAlert, color: 'text-warn' },
}
const note_style = { Icon: Info, color: 'text-faint' }
const shown = 12

/** The findings of a log analysis, each with a link to its entry. `open`: with the excerpt. */
export function LogFindings({ analysis, open }: { analysis: unknown; open: boolean }) {
  const findings = objectsAt(analysis, 'findings')
  const listed = open ? findings : findings.slice(0, shown)
  return (
    <ul aria-label="Findings" className="space-y-2 text-xs">
      {listed.map((finding, index) => {
        const severity = textAt(finding, 'severity') ?? 'info'
        const { Icon, color } = styles[severity] ?? note_style
        const [cause, fix, excerpt] = [
          textAt(finding, 'cause'),
          textAt(finding, 'mend'),
          textAt(finding, 'excerpt'),
        ]
        const brief = severity === 'info' && !open
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the findings of an analysis never change their order
          <li key={index} className="flex items-start gap-2">
            <Icon aria-label={severity} className={`mt-0.5 size-3.5 shrink-0 ${color}`} />
            <div className="min-w-0 flex-1 space-y-0.5 [overflow-wrap:anywhere]">
              <p>
                <span className={brief ? 'text-muted' : 'font-medium'}>
                  {visible(textAt(finding, 'message') ?? '')}
                </span>{' '}
                <Location finding={finding} />
              </p>
              {!brief && cause !== null && <p className="text-muted">{visible(cause)}</p>}
              {!brief && fix !== null && <p className="text-muted">→ {visible(fix)}</p>}
              {open && excerpt !== null && <Terminal text={excerpt} open on_toggle={() => {}} note={null} />}
            </div>
          </li>
        )
      })}
      {findings.length > listed.length && (
        <li className="text-faint">and {findings.length - listed.length} more</li>
      )}
    </ul>
  )
}

function Location({ finding }: { finding: unknown }) {
  const [run, seq] = [numberAt(finding, 'agent_run_id'), numberAt(finding, 'seq')]
  if (run === null) return null
  return (
    <Link
      to="/agent/trace/$id"
      params={{ id: String(run) }}
      {...(seq !== null && { hash: `e${seq}` })}
      className="whitespace-nowrap text-accent hover:underline"
    >
      {seq === null ? `run ${run}` : `run ${run} #${seq}`}
    </Link>
  )
}
