import { CircleAlert, Hourglass, MessageCircleQuestionMark } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { completionText, reasonNames } from '../../api/names.ts'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { hasTerminal, type LiveTool } from '../../trace/live-work.ts'
import { foundSetupOf } from '../../trace/setup/found-setup.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Blank, Notice } from '../../ui/notice.tsx'
import { Clamped } from '../entries/clamped.tsx'
import { PlanList } from '../entries/plan.tsx'
import { PullRequestCard } from '../entries/pull-request.tsx'
import { Markdown } from '../markdown.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { useReadOnlyReason } from '../permission.ts'
import { PlainText } from '../plain-text.tsx'
import { RecoveryNote } from '../runs/recovery-section.tsx'
import { RelatedSection } from '../runs/related-section.tsx'
import { reachedLimit } from '../runs/remedies/remedy.ts'
import { useLatestEntry } from '../runs/use-latest-entry.ts'

const PullRequestOfRun = lazy(() =>
  import('../pull-requests/pull-request-of-run.tsx').catch(() => ({ default: NotLoaded })),
)

const LiveSection = lazy(() => import('./live-section.tsx').catch(() => ({ default: NotLoaded })))
const FoundSetup = lazy(() => import('../runs/found-setup.tsx').catch(() => ({ default: NotLoaded })))

const PROBLEM_LINES = 12

/**
 * The outcome of the run: pull request and answer, or while it is active its plan, its changes so far and its
 * terminal.
 */
export function AnswerPane({ run, tools }: { run: AgentRun; tools: LiveTool[] }) {
  const working = run.result === '' && !run.terminal
  const setup = foundSetupOf(run)
  const plan = useLatestEntry(run, { message_type: 'PLAN_EVALUATION' }, working)
  return (
    <div className="space-y-4 p-4">
      {run.github_pull_requests.map(pr => (
        <PullRequestCard
          key={pr.id}
          pr={{
            number: pr.number,
            title: pr.title,
            url: pr.url,
            head: pr.head_branch_name,
            base: pr.base_branch_name,
            state: pr.state,
            files: pr.files_changed,
            additions: pr.additions,
            deletions: pr.deletions,
          }}
        >
          <Suspense>
            <PullRequestOfRun run={run} pr={pr} />
          </Suspense>
        </PullRequestCard>
      ))}
      {run.error && <RunProblem run={run} error={run.error} />}
      <NotDone run={run} />
      <RecoveryNote run={run} />
      {run.result !== '' && (
        <section aria-label="Answer" className="group/answer">
          <div className="mb-1 flex items-center justify-between">
            <h2 className="text-faint text-xs">
              Answer{run.finished_at && ` · ${moment(run.finished_at)}`}
              {run.turn > 1 && ` · turn ${run.turn}`}
            </h2>
            <CopyButton label="Copy answer" text={() => run.result} />
          </div>
          <Suspense>
            {setup === null ? <Markdown text={run.result} /> : <FoundSetup run={run} found={setup} />}
          </Suspense>
        </section>
      )}
      {plan && (
        <section aria-label="Plan">
          <h2 className="mb-1.5 text-faint text-xs">Plan</h2>
          <PlanList observation={plan.observation} />
        </section>
      )}
      <Suspense>{working && <LiveSection run={run} tools={tools} />}</Suspense>
      {run.result === '' && !run.error && !plan && !tools.some(hasTerminal) && <NoAnswer run={run} />}
      <RelatedSection run={run} />
    </div>
  )
}

/**
 * Why the run is paused or has failed. The end of a long message is shown: it is where a command reports what
 * is wrong.
 */
function RunProblem({ run, error }: { run: AgentRun; error: NonNullable<AgentRun['error']> }) {
  const [open, setOpen] = useState(false)
  const limit = reachedLimit(run)
  if (limit !== null) {
    return (
      <Notice tone="warn">
        <strong>{limit}</strong>
        <p>Nothing is lost: raise the limit, and the run continues where it stopped.</p>
      </Notice>
    )
  }
  return (
    <Notice tone={run.status === 'paused' ? 'warn' : 'bad'}>
      <strong>{run.status_reason ? reasonNames[run.status_reason] : visible(error.code)}</strong>{' '}
      <code className="font-mono text-2xs text-muted">{visible(error.code)}</code>
      <div>
        <Clamped text={error.message} lines={PROBLEM_LINES} open={open} on_toggle={() => setOpen(!open)} end>
          {shown => <PlainText text={shown} />}
        </Clamped>
      </div>
    </Notice>
  )
}

/** What a completed run did not do. */
function NotDone({ run }: { run: AgentRun }) {
  const text = completionText(run)
  if (text === null || run.status_reason === null) return null
  return (
    <Notice tone="warn">
      <strong>{reasonNames[run.status_reason]}</strong>
      <p>{text}</p>
    </Notice>
  )
}

function NoAnswer({ run }: { run: AgentRun }) {
  const read_only = useReadOnlyReason() !== null
  if (run.terminal)
    return <Blank icon={<CircleAlert />} title="No answer">{`The run is ${run.status}.`}</Blank>
  if (run.waiting_on === 'user_input' || run.waiting_on === 'tool_approval') {
    const question = run.waiting_on === 'user_input'
    const others = `The run continues when a member ${question ? 'replies' : 'decides'}.`
    const own = question ? 'Reply at the end of the log.' : 'Review and approve at the end of the log.'
    return (
      <Blank
        icon={<MessageCircleQuestionMark />}
        title={question ? 'The agent has a question' : 'The agent waits for approval'}
      >
        {read_only ? others : own} The answer appears here when the run has completed.
      </Blank>
    )
  }
  return (
    <Blank icon={<Hourglass />} title="No answer yet">
      {run.status === 'queued'
        ? 'The run waits for a free worker.'
        : 'The answer appears here when the run has completed.'}
    </Blank>
  )
}
