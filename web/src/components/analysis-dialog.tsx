import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LogAnalysis } from '../../../src/contract/runs/log-analysis.ts'
import { visible } from '../text/visible.ts'
import { Button, buttonStyle } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { LogFindings } from './entries/log-findings.tsx'

type Props = {
  title: string
  /** What is analyzed, in one sentence. */
  about: string
  /** Fields of the request, if it has some. */
  children?: ReactNode
  analyze: () => Promise<LogAnalysis>
  open: boolean
  on_close: () => void
}

/**
 * Starts an analysis of logs after a confirmation, and shows its findings, with a link to the run that
 * explains them.
 */
export function AnalysisDialog({ title, about, children, analyze, open, on_close }: Props) {
  const analysis = useMutation({ mutationFn: analyze })
  if (!open) return null
  return (
    <Dialog title={title} on_close={on_close}>
      <div className="max-h-[70dvh] space-y-3 overflow-y-auto">
        {analysis.data ? (
          <Found analysis={analysis.data} on_leave={on_close} />
        ) : (
          <form
            className="space-y-3"
            onSubmit={event => {
              event.preventDefault()
              if (!analysis.isPending) analysis.mutate()
            }}
          >
            <p className="text-muted">
              {about} It creates a new run that explains them, whose cost counts like that of other runs.
            </p>
            {children}
            {analysis.error && <Notice tone="bad">{visible(analysis.error.message)}</Notice>}
            <div className="flex justify-end gap-2">
              <Button onClick={on_close}>Cancel</Button>
              <Button type="submit" variant="primary" busy={analysis.isPending}>
                {analysis.isPending ? 'Analyzing the logs…' : 'Start analysis'}
              </Button>
            </div>
          </form>
        )}
      </div>
    </Dialog>
  )
}

const Found = ({ analysis, on_leave }: { analysis: LogAnalysis; on_leave: () => void }) => (
  // The dialog closes when a link to an entry is followed.
  // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: people use the links inside, also by keyboard
  <div className="space-y-3" onClick={event => event.target instanceof HTMLAnchorElement && on_leave()}>
    <p>{visible(analysis.message)}</p>
    <LogFindings analysis={analysis} open={false} />
    <Link
      to="/agent/trace/$id"
      params={{ id: String(analysis.agent_run_id) }}
      search={{ view: 'answer' }}
      className={buttonStyle()}
    >
      View explanation in run {analysis.agent_run_id}
    </Link>
  </div>
)
