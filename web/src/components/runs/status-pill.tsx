import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  type CircleDot,
  CirclePause,
  CircleSlash,
  CircleX,
  Hourglass,
  LoaderCircle,
  MessageCircleQuestionMark,
} from 'lucide-react'
import type { AgentRun, RunStatus, WaitingOn } from '../../../../src/contract/runs/runs.ts'
import { completionText, reasonNames } from '../../api/names.ts'
import { plural } from '../../text/format.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { isIncomplete } from './run-numbers.ts'

const styles: Record<RunStatus, { tone: BadgeTone; Icon: typeof CircleDot; spin?: boolean }> = {
  queued: { tone: 'neutral', Icon: Hourglass },
  starting: { tone: 'accent', Icon: LoaderCircle, spin: true },
  running: { tone: 'accent', Icon: LoaderCircle, spin: true },
  waiting: { tone: 'warn', Icon: MessageCircleQuestionMark },
  paused: { tone: 'paused', Icon: CirclePause },
  cancelling: { tone: 'neutral', Icon: CircleDashed, spin: true },
  completed: { tone: 'ok', Icon: CircleCheck },
  failed: { tone: 'bad', Icon: CircleX },
  cancelled: { tone: 'neutral', Icon: CircleSlash },
}
/** Of a completed run that did not do everything, or whose pull request fails checks. */
const incomplete = { tone: 'warn', Icon: CircleAlert, spin: false } as const

/**
 * The detail after the status: the current phase, what the run waits for, why it ended, or the checks of what
 * it proposed.
 */
export function statusDetail(run: AgentRun): string | null {
  const { status, waiting_on, status_reason, queue_position, pause_requested_at, checks } = run
  const of_checks = status_reason === null || status_reason === 'checks_failed'
  if (status === 'completed' && of_checks && checks?.state === 'failure')
    return `${plural(checks.failed, 'check')} failing`
  if (status === 'completed' && status_reason === null && checks?.state === 'pending') return 'checks running'
  if (status === 'queued' && waiting_on !== 'worker')
    return queue_position ? `number ${queue_position} in the queue` : null
  if ((status === 'starting' || status === 'running') && pause_requested_at !== null) return 'about to pause'
  return waiting_on ? waitingWords[waiting_on] : status_reason ? reasonNames[status_reason] : null
}

const waitingWords: Record<WaitingOn, string> = {
  user_input: 'for your answer',
  tool_approval: 'for your approval',
  ci: 'for checks',
  slot: 'for a free worker',
  worker: 'for its worker',
  clone: 'cloning',
  setup: 'setting up',
  recovery: 'recovering',
  model: 'thinking',
  model_retry: 'about to retry the model',
  tool: 'running a tool',
  push: 'pushing',
}

/** Status as icon, word and colour. */
export function StatusPill({ run, detailed = false }: { run: AgentRun; detailed?: boolean }) {
  const { tone, Icon, spin } = isIncomplete(run) ? incomplete : styles[run.status]
  const detail = detailed ? statusDetail(run) : null
  return (
    <Badge tone={tone} title={completionText(run) ?? undefined} className="max-w-full">
      <Icon aria-hidden className={`size-3 shrink-0 ${spin ? 'animate-spin [animation-duration:2s]' : ''}`} />
      <span data-testid="status">{run.status}</span>
      {detail && <span className="truncate">· {detail}</span>}
    </Badge>
  )
}
