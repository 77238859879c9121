import { Link } from '@tanstack/react-router'
import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { numberAt, objectsAt, textAt } from '../../trace/fields.ts'
import { Terminal } from './terminal.tsx'

const looks: Record<string, { Icon: typeof Info; color: string }> = {
  error: { Icon: CircleAlert, color: 'text-bad' },
  warning: { Icon: TriangleAlert, color: 'text-warn' },
}
const told = { Icon: Info, color: 'text-faint' }
const shown = 12

/** What the analysis of logs has found, each with a link to the entry that shows it. `open`: with what stands there. */
export function LogFindings({ analysis, open }: { analysis: unknown; open: boolean }) {
  const findings = objectsAt(analysis, 'findings')
  const listed = open ? findings : findings.slice(0, shown)
  return (
    <ul aria-label="Findings" className="space-y-2 text-xs">
      {listed.map((finding, index) => {
        const severity = textAt(finding, 'severity') ?? 'info'
        const { Icon, color } = looks[severity] ?? told
        const [cause, mend, excerpt] = [textAt(finding, 'cause'), textAt(finding, 'mend'), textAt(finding, 'excerpt')]
        const brief = severity === 'info' && !open
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the findings of an analysis never change places
          <li key={index} className="flex items-start gap-2">
            <Icon aria-label={severity} className={`mt-0.5 size-3.5 shrink-0 ${color}`} />
            <div className="min-w-0 flex-1 space-y-0.5 [overflow-wrap:anywhere]">
              <p>
                <span className={brief ? 'text-muted' : 'font-medium'}>{visible(textAt(finding, 'message') ?? '')}</span>{' '}
                <Place finding={finding} />
              </p>
              {!brief && cause !== null && <p className="text-muted">{visible(cause)}</p>}
              {!brief && mend !== null && <p className="text-muted">→ {visible(mend)}</p>}
              {open && excerpt !== null && <Terminal text={excerpt} open on_toggle={() => {}} note={null} />}
            </div>
          </li>
        )
      })}
      {findings.length > listed.length && <li className="text-faint">and {findings.length - listed.length} more</li>}
    </ul>
  )
}

function Place({ finding }: { finding: unknown }) {
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
