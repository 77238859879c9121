import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { visible } from '../../text/visible.ts'
import { objectsAt, textAt } from '../../trace/fields.ts'
import { Button } from '../../ui/button.tsx'
import { APPROVE_ID } from './follow-up-draft.ts'
import { useLatestEntry } from './use-latest-entry.ts'

/** Asks for approval of a push that changes files of CI. */
export default function ApprovalQuestion(props: {
  run: AgentRun
  reason: string | null
  busy: boolean
  approve: (head_sha: string) => void
}) {
  const evaluation = useLatestEntry(props.run, { message_type: 'COMMIT_EVALUATION' }, true)
  const files = objectsAt(evaluation?.observation, 'findings').filter(finding => textAt(finding, 'code') === 'ci_workflow_changed')
  const head_sha = textAt(evaluation?.observation, 'head_sha')
  return (
    <div className="mb-2 flex flex-wrap items-center gap-3 rounded-md border border-warn/40 bg-warn/8 px-3 py-2" data-testid="approval">
      <div className="min-w-0 flex-1">
        <div className="mb-0.5 font-medium text-warn text-xs">Waiting for your approval</div>
        <p>These files change what CI does with its credentials. Nothing is pushed until you approve the change.</p>
        <ul className="mt-1 font-mono text-xs">
          {files.map(finding => (
            <li key={textAt(finding, 'path')}>{visible(textAt(finding, 'path') ?? '')}</li>
          ))}
        </ul>
      </div>
      <Button
        id={APPROVE_ID}
        type="button"
        variant="primary"
        reason={props.reason ?? (head_sha === null ? 'The change is still loading' : null)}
        busy={props.busy}
        onClick={() => head_sha !== null && props.approve(head_sha)}
      >
        Approve and push
      </Button>
    </div>
  )
}
