import { SendHorizontal } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { actionTool } from '../../../../src/contract/runs/action-tools.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { visible } from '../../text/visible.ts'
import { textAt } from '../../trace/fields.ts'
import { isRecorded } from '../../trace/recorded.ts'
import { Button } from '../../ui/button.tsx'
import { useDraft } from '../../ui/draft.ts'
import { Select, TextArea } from '../../ui/field.tsx'
import { Markdown } from '../markdown.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { useReadOnlyReason } from '../permission.ts'
import { FOLLOW_UP_ID, followUpDraft } from './follow-up-draft.ts'
import { isScripted } from './model-badge.tsx'
import { remedyOf } from './remedies/remedy.ts'
import { useRunActions } from './run-actions.ts'
import { useLatestEntry } from './use-latest-entry.ts'

const ApprovalQuestion = lazy(() => import('./approval-question.tsx').catch(() => ({ default: NotLoaded })))

const modes = {
  steer: 'before its next step',
  enqueue: 'as its next turn',
  interrupt: 'now, stopping this step',
} as const
type Mode = keyof typeof modes

/** Failures at a ceiling: a new turn gets new limits and continues the run. */
const ceilings: ReadonlySet<string> = new Set(['max_steps', 'out_of_tokens', 'timeout'])
const working = new Set(['queued', 'starting', 'running'])

/**
 * What raises the limit at which the run is paused: without it the service refuses to continue. Null when it
 * is paused at none of its own.
 */
function raiseOf(run: AgentRun) {
  const remedy = run.status_reason === 'budget' ? remedyOf(run) : null
  return remedy?.kind === 'resume' && remedy.budget ? { label: remedy.label, budget: remedy.budget } : null
}

/** What the follow-up box does in this state of the run. */
function purpose(run: AgentRun): { label: string; send: string } {
  if (run.status === 'waiting' && run.waiting_on === 'tool_approval')
    return { label: 'Or describe what the agent should do instead', send: 'Send' }
  if (run.status === 'waiting' && run.waiting_on === 'user_input')
    return { label: 'Your answer', send: 'Answer' }
  const remedy = raiseOf(run)
  if (remedy !== null) return { label: 'Add instructions for when the run continues', send: remedy.label }
  if (run.status_reason === 'budget')
    return { label: 'The budget of the organization is used up', send: 'Continue' }
  if (run.status === 'paused')
    return { label: 'The run is paused. Add instructions for when it continues', send: 'Continue' }
  if (run.status === 'cancelling')
    return { label: 'The run is being stopped. Add instructions for its next turn', send: 'Send' }
  if (run.status_reason !== null && ceilings.has(run.status_reason))
    return {
      label: 'The run reached a limit of the service. Add instructions for when it continues',
      send: 'Continue',
    }
  if (run.terminal) return { label: 'Follow up: start a new turn in the same workspace', send: 'Send' }
  return { label: 'Send a message to the agent', send: 'Send' }
}

/** The end of the trace: the follow-up box, or why there is none. */
export function FollowUp({ run }: { run: AgentRun }) {
  const forbidden = useReadOnlyReason()
  const reason = isRecorded(run)
    ? 'Recorded from a local session. Only that session can continue it'
    : forbidden
  if (reason === null) return <FollowUpForm run={run} />
  return <p className="shrink-0 border-line border-t bg-surface px-3 py-2 text-muted text-sm">{reason}.</p>
}

function FollowUpForm({ run }: { run: AgentRun }) {
  const { resume } = useRunActions(run)
  const draft = useDraft(followUpDraft(run.id), stored => (typeof stored === 'string' ? stored : ''))
  const text = draft.value
  const [mode, setMode] = useState<Mode>('steer')
  const question = useLatestEntry(
    run,
    { message_type: 'ACTION', tool_name: actionTool.ask },
    run.waiting_on === 'user_input',
  )
  const { label, send } = purpose(run)
  const active = working.has(run.status)
  const raise = raiseOf(run)
  const prompt = text.trim() === '' && (send === 'Continue' || raise !== null) ? 'Continue.' : text.trim()
  const reason = prompt === '' ? 'Write something first' : null
  const submit = () => {
    if (reason || resume.isPending) return
    resume.mutate(
      { prompt, ...(active && { mode }), ...(raise && { budget: raise.budget }) },
      { onSuccess: draft.drop },
    )
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
      {question && <AgentQuestion text={textAt(question.tool_input, 'question') ?? ''} />}
      {run.status === 'waiting' && run.waiting_on === 'tool_approval' && (
        <Suspense>
          <ApprovalQuestion
            run={run}
            busy={resume.isPending}
            approve={expected_head_sha =>
              resume.mutate({ prompt: 'Approved.', approve: true, expected_head_sha })
            }
          />
        </Suspense>
      )}
      <TextArea
        id={FOLLOW_UP_ID}
        aria-label={label}
        placeholder={label}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        className="resize-none"
        onChange={event => draft.set(() => event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
          // Escape ends the composition of a character first.
          if (event.key === 'Escape' && !event.nativeEvent.isComposing)
            document.querySelector<HTMLElement>('[role=feed]')?.focus()
        }}
      />
      <div className="mt-1.5 flex items-end gap-2">
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
          {active && <DeliveryMode mode={mode} on_change={setMode} />}
          {isScripted(run.model) && run.status !== 'waiting' && (
            <span className="text-faint text-xs">Scripted: executes your playbook block.</span>
          )}
          {resume.isError && (
            <span role="alert" className="text-bad text-xs">
              {visible(resume.error.message)}
            </span>
          )}
        </div>
        <Button type="submit" variant="primary" reason={reason} busy={resume.isPending} className="shrink-0">
          <SendHorizontal aria-hidden className="size-3.5" /> {send}
        </Button>
      </div>
    </form>
  )
}

const AgentQuestion = ({ text }: { text: string }) => (
  <div className="mb-2 rounded-md border border-warn/40 bg-warn/8 px-3 py-2" data-testid="question">
    <div className="mb-0.5 font-medium text-warn text-xs">Question from the agent</div>
    <Markdown text={text} />
  </div>
)

const DeliveryMode = ({ mode, on_change }: { mode: Mode; on_change: (mode: Mode) => void }) => (
  <div className="flex items-center gap-1.5 text-muted text-xs">
    Delivered
    <Select
      aria-label="Delivered"
      className="h-7! w-auto! text-xs!"
      value={mode}
      onChange={event => on_change(event.target.value as Mode)}
    >
      {Object.entries(modes).map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </Select>
  </div>
)
