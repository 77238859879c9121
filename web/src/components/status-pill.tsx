import {
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
import type { AgentRun, RunStatus } from '../../../src/contract/runs.ts'
import { Badge, type BadgeTone } from '../ui/badge.tsx'

const looks: Record<RunStatus, { tone: BadgeTone; Icon: typeof CircleDot; spin?: boolean }> = {
  queued: { tone: 'neutral', Icon: Hourglass },
  starting: { tone: 'accent', Icon: LoaderCircle, spin: true },
  running: { tone: 'accent', Icon: LoaderCircle, spin: true },
  waiting: { tone: 'warn', Icon: MessageCircleQuestionMark },
  paused: { tone: 'hold', Icon: CirclePause },
  cancelling: { tone: 'neutral', Icon: CircleDashed, spin: true },
  completed: { tone: 'ok', Icon: CircleCheck },
  failed: { tone: 'bad', Icon: CircleX },
  cancelled: { tone: 'neutral', Icon: CircleSlash },
}

const words = (name: string) => name.replaceAll('_', ' ')

/** What comes after the status: where a run is, what it waits for, or why it ended. */
export function statusDetail({ status, phase, waiting_on, status_reason, queue_position }: AgentRun): string | null {
  if (status === 'queued') return queue_position ? `number ${queue_position} in the queue` : null
  if (status === 'starting' || status === 'running') return phase ? phaseWords[phase] : null
  if (status === 'waiting') return waiting_on === 'ci' ? 'for checks' : waiting_on ? `for ${words(waiting_on)}` : null
  return status_reason ? words(status_reason) : null
}

const phaseWords = {
  clone: 'cloning',
  setup: 'setting up',
  checkout: 'checking out',
  recover: 'recovering',
  agent: 'agent at work',
  evaluate: 'evaluating',
  push: 'pushing',
  pull_request: 'opening pull request',
} as const

/** Status as icon, word and colour. */
export function StatusPill({ run, detailed = false }: { run: AgentRun; detailed?: boolean }) {
  const { tone, Icon, spin } = looks[run.status]
  const detail = detailed ? statusDetail(run) : null
  return (
    <Badge tone={tone} className="max-w-full">
      <Icon aria-hidden className={`size-3 shrink-0 ${spin ? 'animate-spin [animation-duration:2s]' : ''}`} />
      <span data-testid="status">{run.status}</span>
      {detail && <span className="truncate opacity-85">· {detail}</span>}
    </Badge>
  )
}
