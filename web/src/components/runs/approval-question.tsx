import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { visible } from '../../text/visible.ts'
import { objectsAt, textAt } from '../../trace/fields.ts'
import { Button } from '../../ui/button.tsx'
import { APPROVE_ID } from './follow-up-draft.ts'
import { useLatestEntries, useLatestEntry } from './use-latest-entry.ts'

type Props = { run: AgentRun; busy: boolean; approve: (expected: string) => void }

const APPROVAL_CODES = new Set(['ci_workflow_changed', 'approval_path_changed'])
/** What the service records at the end of a turn may follow the call. */
const NEWEST_ACTIONS = 10

/** Asks for approval of a push that changes files of CI, or of a call of an agent of another vendor. */
export default function ApprovalQuestion(props: Props) {
  const actions = useLatestEntries(
    props.run,
    { message_type: 'ACTION' },
    { limit: NEWEST_ACTIONS, wanted: true },
  )
  const evaluation = useLatestEntry(props.run, { message_type: 'COMMIT_EVALUATION' }, true)
  const call = actions.find(({ tool_output }) => textAt(tool_output, 'approval') !== null)
  const is_call = call !== undefined && call.seq > (evaluation?.seq ?? 0)
  const expected = is_call
    ? textAt(call.tool_output, 'approval')
    : textAt(evaluation?.observation, 'head_sha')
  const files = objectsAt(evaluation?.observation, 'findings').filter(finding =>
    APPROVAL_CODES.has(textAt(finding, 'code') ?? ''),
  )
  const lines = is_call
    ? [`${call.tool_name}: ${callText(call.tool_input)}`]
    : files.map(finding => textAt(finding, 'path') ?? '')
  return (
    <div
      className="mb-2 flex flex-wrap items-center gap-3 rounded-md border border-warn/40 bg-warn/8 px-3 py-2"
      data-testid="approval"
    >
      <div className="min-w-0 flex-1">
        <div className="mb-0.5 font-medium text-warn text-xs">Waiting for your approval</div>
        <p>
          {is_call
            ? 'The agent continues with this when you approve it. A message instead gives it another task.'
            : 'These files run on other machines, such as CI with its credentials, or are named in the settings. Nothing is pushed until you approve the change. They come from a list, which is not complete: other files of the change may run elsewhere too.'}
        </p>
        <ul className="mt-1 font-mono text-xs">
          {lines.map(line => (
            <li key={line} className="whitespace-pre-wrap break-words">
              {visible(line)}
            </li>
          ))}
        </ul>
      </div>
      <Button
        id={APPROVE_ID}
        type="button"
        variant="primary"
        reason={expected === null ? 'What waits is still loading' : null}
        busy={props.busy}
        onClick={() => expected !== null && props.approve(expected)}
      >
        {is_call ? 'Approve' : 'Approve and push'}
      </Button>
    </div>
  )
}

const callText = (input: unknown): string => textAt(input, 'command', 'title') ?? JSON.stringify(input)
