import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { actionTool } from '../../../../src/contract/runs/action-tools.ts'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import { numberAt, objectsAt, textAt } from '../../trace/fields.ts'
import { toolKind } from '../../trace/tool-kind.ts'
import { Markdown } from '../markdown.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { PlainText } from '../plain-text.tsx'
import { ActionBody } from './action-body.tsx'
import { Clamped } from './clamped.tsx'
import { FailedChecks } from './failed-checks.tsx'
import { Findings } from './findings.tsx'
import { JsonView } from './json-view.tsx'
import { PlanList } from './plan.tsx'
import { PullRequestCard } from './pull-request.tsx'
import { WholeOutput } from './whole-output.tsx'

const missing = () => ({ default: NotLoaded })
/** Rare entries, whose bodies are loaded with the first of them. */
const BlockedHost = lazy(() =>
  import('./blocked-host.tsx').then(({ BlockedHost }) => ({ default: BlockedHost }), missing),
)
const Compaction = lazy(() =>
  import('./compaction.tsx').then(({ Compaction }) => ({ default: Compaction }), missing),
)
const MessageImages = lazy(() => import('./message-images.tsx').catch(missing))
const LogFindings = lazy(() =>
  import('./log-findings.tsx').then(({ LogFindings }) => ({ default: LogFindings }), missing),
)

type Props = { entry: LogEntry; open: boolean; passed: boolean; on_toggle: () => void }

const lines_closed = 10

/** The body of an entry, under its first line. `passed`: later steps follow. */
export function EntryBody({ entry, open, passed, on_toggle }: Props) {
  const { message_type, observation } = entry
  const text = typeof observation === 'string' ? observation : ''
  const prose = (text: string, end = false) => (
    <Clamped text={text} lines={lines_closed} open={open} on_toggle={on_toggle} end={end}>
      {shown => <PlainText text={shown} className={text.includes('```') ? 'font-mono text-xs' : ''} />}
    </Clamped>
  )
  switch (message_type) {
    case 'ACTION':
      return (
        <Suspense>
          <ActionEntry entry={entry} open={open} passed={passed} on_toggle={on_toggle} prose={prose} />
        </Suspense>
      )
    case 'FINAL_ANSWER':
      return text.startsWith('{') ? <JsonView title="JSON" value={parsed(text)} /> : <Markdown text={text} />
    case 'USER_MESSAGE':
      return (
        <>
          {prose(textAt(observation, 'text') ?? text)}
          <ImagesOf entry={entry} count={numberAt(observation, 'images')} />
        </>
      )
    case 'USER_GITHUB_ISSUE_COMMENT':
      return prose(textAt(observation, 'body') ?? text)
    case 'PLAN_EVALUATION':
      if (objectsAt(observation, 'plan').length > 0) return <PlanList observation={observation} />
      return open && entry.thought ? prose(entry.thought) : null
    case 'COMMIT_EVALUATION':
    case 'PR_EVALUATION':
      return (
        <>
          <Findings observation={observation} />
          {open && <JsonView title="Details" value={observation} />}
        </>
      )
    case 'DETECT_PR_ERRORS':
      return <FailedChecks observation={observation} open={open} on_toggle={on_toggle} />
    case 'INITIAL_PR_GENERATION':
      return <PullRequestCard pr={pullRequestOf(observation)} />
    case 'ERROR':
    case 'PR_CREATION_FAILED':
      return (
        <>
          {prose(textAt(observation, 'message') ?? text, true)}
          {open && <JsonView title="Details" value={observation} />}
        </>
      )
    case 'AGENT_RUN_LINK': {
      const id = numberAt(observation, 'agent_run_id')
      if (id === null) return null
      return (
        <Link to="/agent/trace/$id" params={{ id: String(id) }} className="text-accent hover:underline">
          Open run #{id}
        </Link>
      )
    }
    default:
      return open ? <JsonView title="Observation" value={observation} /> : null
  }
}

function ActionEntry({
  entry,
  open,
  passed,
  on_toggle,
  prose,
}: Props & { prose: (text: string) => ReactNode }) {
  const { tool_name, tool_input, tool_output, artifact_url } = entry
  if (toolKind(tool_name) === 'egress')
    return <BlockedHost agent_run_id={entry.agent_run_id} input={tool_input} output={tool_output} />
  if (tool_name === actionTool.context_compacted)
    return (
      <Compaction agent_run_id={entry.agent_run_id} output={tool_output} open={open} on_toggle={on_toggle} />
    )
  if (tool_name === actionTool.log_analysis) {
    return (
      <>
        {prose(textAt(tool_output, 'message') ?? '')}
        <LogFindings analysis={tool_output} open={open} />
      </>
    )
  }
  return (
    <>
      <ActionBody
        tool_name={tool_name}
        input={tool_input}
        output={tool_output}
        open={open}
        passed={passed}
        on_toggle={on_toggle}
      />
      {open && <ImagesOf entry={entry} count={numberAt(tool_output, 'images')} />}
      {(open || !passed) && <WholeOutput artifact_url={artifact_url} />}
    </>
  )
}

function ImagesOf({ entry: { agent_run_id, seq }, count }: { entry: LogEntry; count: number | null }) {
  if (count === null || count === 0) return null
  return (
    <Suspense fallback={<div className="h-24" />}>
      <MessageImages agent_run_id={agent_run_id} seq={seq} count={count} />
    </Suspense>
  )
}

const pullRequestOf = (observation: unknown) => ({
  number: numberAt(observation, 'pr_number'),
  title: textAt(observation, 'title'),
  url: textAt(observation, 'url'),
  head: textAt(observation, 'head_branch'),
  base: textAt(observation, 'base_branch'),
  state: null,
  files: numberAt(observation, 'files_changed'),
  additions: numberAt(observation, 'additions'),
  deletions: numberAt(observation, 'deletions'),
})

/** A JSON response, formatted for people; text that is not JSON stays unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
