import { SendHorizontal } from 'lucide-react'
import { useState } from 'react'
import { actionTool } from '../../../src/contract/runs/action-tools.ts'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { visible } from '../text/visible.ts'
import { textAt } from '../trace/fields.ts'
import { isRecorded } from '../trace/recorded.ts'
import { Button } from '../ui/button.tsx'
import { Select, TextArea } from '../ui/field.tsx'
import { ApprovalQuestion } from './approval-question.tsx'
import { isScripted } from './model-badge.tsx'
import { useReadOnlyReason } from './permission.ts'
import { PlainText } from './plain-text.tsx'
import { useRunActions } from './run-actions.ts'
import { useLatestEntry } from './use-latest-entry.ts'

const modes = { steer: 'before its next step', enqueue: 'as its next turn', interrupt: 'now, stopping this step' } as const
type Mode = keyof typeof modes

/** Ends that a new turn, which has a new allowance, continues from. */
const ceilings: ReadonlySet<string> = new Set(['max_steps', 'out_of_tokens', 'timeout'])
const working = new Set(['queued', 'starting', 'running'])

/** What the box does in this state of the run. */
function purpose(run: AgentRun): { label: string; send: string } {
  if (run.status === 'waiting' && run.waiting_on === 'tool_approval') return { label: 'Or say what it should do instead', send: 'Send' }
  if (run.status === 'waiting' && run.waiting_on === 'user_input') return { label: 'Your answer', send: 'Answer' }
  if (run.status_reason === 'budget')
    return { label: 'Paused at its budget. Raise it under Config, then say how to go on', send: 'Continue' }
  if (run.status === 'paused') return { label: 'The run is paused. What should it know when it goes on?', send: 'Continue' }
  if (run.status === 'cancelling') return { label: 'The run is being stopped. What should its next turn do?', send: 'Send' }
  if (run.status_reason !== null && ceilings.has(run.status_reason))
    return { label: 'The run reached a limit of the service. What should it know when it continues?', send: 'Continue' }
  if (run.terminal) return { label: 'Follow up: a new turn in the same workspace', send: 'Send' }
  return { label: 'Tell the agent something', send: 'Send' }
}

/** The end of the trace: the box, or why there is none. */
export function FollowUp({ run }: { run: AgentRun }) {
  if (!isRecorded(run)) return <FollowUpForm run={run} />
  return (
    <p className="shrink-0 border-line border-t bg-surface px-3 py-2 text-muted text-sm">
      Recorded from a local session: only that session continues it.
    </p>
  )
}

function FollowUpForm({ run }: { run: AgentRun }) {
  const { resume } = useRunActions(run)
  const forbidden = useReadOnlyReason()
  const [text, setText] = useState('')
  const [mode, setMode] = useState<Mode>('steer')
  const asked = useLatestEntry(run, { message_type: 'ACTION', tool_name: actionTool.ask }, run.waiting_on === 'user_input')
  const { label, send } = purpose(run)
  const at_work = working.has(run.status)
  const prompt = text.trim() === '' && send === 'Continue' ? 'Continue.' : text.trim()
  const reason = forbidden ?? (prompt === '' ? 'Write something first' : null)
  const submit = () => {
    if (reason || resume.isPending) return
    resume.mutate({ prompt, ...(at_work ? { mode } : {}) }, { onSuccess: () => setText('') })
  }
  return (
    <form
      aria-label="Follow-up"
      className="shrink-0 border-line border-t bg-surface px-3 py-2"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      {asked && (
        <div className="mb-2 rounded-md border border-warn/40 bg-warn/8 px-3 py-2" data-testid="question">
          <div className="mb-0.5 font-medium text-warn text-xs">The agent asks</div>
          <PlainText text={textAt(asked.tool_input, 'question') ?? ''} />
        </div>
      )}
      {run.status === 'waiting' && run.waiting_on === 'tool_approval' && (
        <ApprovalQuestion
          run={run}
          reason={forbidden}
          busy={resume.isPending}
          approve={expected_head_sha => resume.mutate({ prompt: 'Approved.', approve: true, expected_head_sha })}
        />
      )}
      <TextArea
        aria-label={label}
        placeholder={label}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        disabled={forbidden !== null}
        className="resize-none"
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
      />
      <div className="mt-1.5 flex flex-wrap items-center gap-2">
        {at_work && (
          <div className="flex items-center gap-1.5 text-muted text-xs">
            Delivered
            <Select
              aria-label="Delivered"
              className="h-7! w-auto! text-xs!"
              value={mode}
              onChange={event => setMode(event.target.value as Mode)}
            >
              {Object.entries(modes).map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </Select>
          </div>
        )}
        {isScripted(run.model) && run.status !== 'waiting' && (
          <span className="text-faint text-xs">Scripted: it does what a playbook block here says.</span>
        )}
        {resume.isError && (
          <span role="alert" className="text-bad text-xs">
            {visible(resume.error.message)}
          </span>
        )}
        <Button type="submit" variant="primary" reason={reason} busy={resume.isPending} className="ml-auto">
          <SendHorizontal aria-hidden className="size-3.5" /> {send}
        </Button>
      </div>
    </form>
  )
}
