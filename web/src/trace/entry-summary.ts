import { actionTool } from '../../../src/contract/runs/action-tools.ts'
import type { LogEntry, MessageType } from '../../../src/contract/runs/logs.ts'
import { withoutAnsi } from '../text/ansi.ts'
import { duration } from '../text/format.ts'
import { visible } from '../text/visible.ts'
import { blockedLine } from './blocked-host.ts'
import { detectedSummary, fixedSummary } from './checks-summary.ts'
import { isObject, numberAt, objectsAt, textAt } from './fields.ts'
import type { EntrySummary } from './summary-types.ts'
import { toolKind } from './tool-kind.ts'
import { isOfServer, toolLabel } from './tool-label.ts'

const line_chars = 300

export function entrySummary(entry: LogEntry): EntrySummary {
  const summary = entry.message_type === 'ACTION' ? actionSummary(entry) : messageSummary(entry)
  return { ...summary, line: oneLine(summary.line) }
}

/** The first non-empty line, without escape sequences and cut to a length that a row can show. */
export function oneLine(text: string): string {
  const line =
    text
      .slice(0, 4 * line_chars)
      .trimStart()
      .split('\n', 1)[0] ?? ''
  const clean = line.includes('\u001b') ? withoutAnsi(line) : visible(line)
  return clean.length > line_chars ? `${clean.slice(0, line_chars)}…` : clean
}

/** Describes a tool call by its input. */
export function toolLine(tool_name: string | null, input: unknown): string {
  // Agents of other vendors name their input as they like, but give a title.
  const title = textAt(input, 'title')
  switch (toolKind(tool_name, input)) {
    case 'shell':
      return [
        tool_name === actionTool.check ? textAt(input, 'name') : null,
        textAt(input, 'command') ?? title,
      ]
        .filter(Boolean)
        .join(': ')
    case 'search':
      return title ?? [textAt(input, 'pattern'), textAt(input, 'path', 'glob')].filter(Boolean).join('  in  ')
    case 'git':
      if (tool_name === actionTool.environment) return ''
      return textAt(input, tool_name === actionTool.git_clone ? 'repository' : 'branch') ?? ''
    case 'instructions':
    case 'analysis':
    case 'compaction':
      return ''
    case 'question':
      return textAt(input, 'question') ?? ''
    case 'edit':
      return textAt(input, 'path') ?? title ?? patchedFiles(textAt(input, 'patch') ?? '')
    default:
      return (
        (isOfServer(tool_name) ? null : textAt(input, 'path', 'name', 'url')) ??
        title ??
        (isObject(input) && Object.keys(input).length ? JSON.stringify(input) : '')
      )
  }
}

const patchedFiles = (patch: string) =>
  [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, path]) => path).join(', ')

/** Which environment a run uses. */
function environmentLine(output: unknown): string {
  if (!isObject(output) || typeof output.made !== 'boolean') return textAt(output, 'error') ?? ''
  if (output.made)
    return output.kept === true ? 'created, and saved for later runs' : 'created for this run only'
  return `created by run ${numberAt(output, 'made_by_run') ?? '?'}, ${duration(1000 * (numberAt(output, 'age_seconds') ?? 0))} before`
}

/**
 * The secrets that a sandbox received, the files that its setup changed and created, or the MCP servers that
 * were opened.
 */
const namesAt = (output: unknown): string =>
  ['names', 'changed', 'left_out', 'servers']
    .flatMap(key => (isObject(output) && Array.isArray(output[key]) ? output[key] : []))
    .map(item => textAt(item, 'name') ?? item)
    .filter(name => typeof name === 'string')
    .join(', ')

const COMPACTED: Record<string, string> = {
  summarized: 'Earlier steps summarized',
  shortened: 'New tool results shortened',
}

/** How a conversation was compacted, and its estimated tokens before and after. */
function compactionLine(input: unknown, output: unknown): string {
  const [before, after] = [numberAt(input, 'tokens') ?? 0, numberAt(output, 'tokens') ?? 0]
  const how = COMPACTED[textAt(output, 'how') ?? ''] ?? 'Old tool results cleared'
  return `${how}: about ${before.toLocaleString('en')} tokens, now ${after.toLocaleString('en')}`
}

/** Whether a tool call has failed, by its output. */
export function callFailed(output: unknown): boolean {
  const status = textAt(output, 'status')
  const exit_code = numberAt(output, 'exit_code')
  return (
    status === 'error' ||
    status === 'timeout' ||
    status === 'interrupted' ||
    (exit_code !== null && exit_code !== 0)
  )
}

function actionSummary({ tool_name, tool_input, tool_output }: LogEntry): EntrySummary {
  const kind = toolKind(tool_name, tool_input)
  const status = textAt(tool_output, 'status')
  const exit_code = numberAt(tool_output, 'exit_code')
  const failed = callFailed(tool_output)
  return {
    kind,
    label: toolLabel(tool_name, failed),
    line:
      kind === 'compaction'
        ? compactionLine(tool_input, tool_output)
        : kind === 'egress'
          ? blockedLine(tool_input, tool_output)
          : tool_name === actionTool.environment
            ? environmentLine(tool_output)
            : toolLine(tool_name, tool_input) ||
              (kind === 'instructions' ? textAt(tool_output, 'path') : howAt(tool_output)) ||
              namesAt(tool_output),
    tone: failed ? 'bad' : 'neutral',
    note: kind === 'egress' ? textAt(tool_output, 'reason') : actionNote(tool_output, status, exit_code),
  }
}

/** Where the files of a workspace come from. */
const sources = new Map([
  ['adopted', 'kept by the workspace'],
  ['restored', 'from the checkpoint'],
  ['fresh', 'from the base commit'],
])

function howAt(output: unknown): string | null {
  const how = textAt(output, 'how')
  return how === null ? null : (sources.get(how) ?? how)
}

function actionNote(output: unknown, status: string | null, exit_code: number | null): string | null {
  if (status === 'timeout') return 'timed out'
  if (status === 'interrupted') return 'interrupted'
  if (exit_code !== null) return exit_code === 0 ? null : `exit ${exit_code}`
  if (status === 'error') return 'failed'
  const count = numberAt(output, 'count')
  return count === null ? null : `${count} ${count === 1 ? 'match' : 'matches'}`
}

function messageSummary({ message_type, observation, thought, tool_name }: LogEntry): EntrySummary {
  const observed = typeof observation === 'string' ? observation : ''
  switch (message_type) {
    case 'FINAL_ANSWER':
      return { kind: 'answer', label: 'Answer', line: observed, tone: 'ok', note: null }
    case 'PLAN_EVALUATION':
      return planSummary(observation, thought ?? '')
    case 'USER_MESSAGE':
      return {
        kind: 'user',
        label: 'Message',
        line: textAt(observation, 'text') ?? observed,
        tone: 'accent',
        note: userNote(observation),
      }
    case 'USER_GITHUB_ISSUE_COMMENT':
      return {
        kind: 'user',
        label: 'Issue comment',
        line: textAt(observation, 'body') ?? observed,
        tone: 'accent',
        note: textAt(observation, 'author'),
      }
    case 'ERROR':
      return errorSummary(tool_name, observation, observed)
    case 'INITIAL_PR_GENERATION':
      return {
        kind: 'pull_request',
        label: 'Pull request',
        line: pullRequestLine(observation),
        tone: 'ok',
        note: changes(observation),
      }
    case 'PR_CREATION_FAILED':
      return {
        kind: 'error',
        label: 'Pull request failed',
        line: textAt(observation, 'message') ?? observed,
        tone: 'bad',
        note: textAt(observation, 'code'),
      }
    case 'DETECT_PR_ERRORS':
      return detectedSummary(observation)
    case 'FIX_PR_ERRORS':
      return fixedSummary(observation)
    case 'AGENT_RUN_LINK':
      return {
        kind: 'link',
        label: relationOf(observation),
        line: `#${numberAt(observation, 'agent_run_id') ?? ''}`,
        tone: 'neutral',
        note: null,
      }
    default:
      return evaluationSummary(message_type, textAt(observation, 'verdict'), thought ?? observed)
  }
}

function planSummary(observation: unknown, thought: string): EntrySummary {
  const plan = objectsAt(observation, 'plan')
  const done = plan.filter(item => item.state === 'done').length
  // Without a thought of the agent the service lists the items as the thought: they are shown below anyway.
  const listed = plan.length > 0 && /^\[[ x>]\] /.test(thought)
  return {
    kind: 'plan',
    label: 'Plan',
    line: listed ? '' : thought,
    tone: 'neutral',
    note: plan.length ? `${done} of ${plan.length}` : null,
  }
}

const evaluationSummary = (
  message_type: MessageType,
  verdict: string | null,
  line: string,
): EntrySummary => ({
  kind: 'evaluation',
  label: messageLabels[message_type],
  line,
  tone: verdict === 'fail' ? 'bad' : 'neutral',
  note: verdict,
})

function errorSummary(tool_name: string | null, observation: unknown, observed: string): EntrySummary {
  const retried = isObject(observation) && observation.retryable === true
  return {
    kind: 'error',
    label: tool_name === null ? 'Error' : `${toolLabel(tool_name, true)} failed`,
    line: textAt(observation, 'message') ?? observed,
    tone: retried ? 'warn' : 'bad',
    note: textAt(observation, 'code'),
  }
}

const userNote = (observation: unknown) => {
  const mode = textAt(observation, 'mode')
  return mode === 'enqueue' || mode === 'interrupt' ? mode : null
}

const pullRequestLine = (observation: unknown) =>
  [
    numberAt(observation, 'pr_number') === null ? null : `#${numberAt(observation, 'pr_number')}`,
    textAt(observation, 'title'),
  ]
    .filter(Boolean)
    .join(' ')

const changes = (observation: unknown) => {
  const [additions, deletions] = [numberAt(observation, 'additions'), numberAt(observation, 'deletions')]
  return additions === null || deletions === null ? null : `+${additions} −${deletions}`
}

const relations = new Map([
  ['parent', 'Parent run'],
  ['child', 'Child run'],
  ['fork', 'Fork'],
  ['analysis', 'Log analysis'],
])
const relationOf = (observation: unknown) =>
  relations.get(textAt(observation, 'relation') ?? '') ?? 'Linked run'

export const messageLabels: Record<MessageType, string> = {
  ACTION: 'Action',
  PLAN_EVALUATION: 'Plan',
  FINAL_ANSWER: 'Answer',
  ERROR: 'Error',
  USER_MESSAGE: 'Message',
  USER_GITHUB_ISSUE_COMMENT: 'Issue comment',
  INITIAL_PR_GENERATION: 'Pull request',
  DETECT_PR_ERRORS: 'Checks failed',
  FIX_PR_ERRORS: 'Fixing checks',
  PR_CREATION_FAILED: 'Pull request failed',
  PR_EVALUATION: 'Pull request review',
  COMMIT_EVALUATION: 'Commit review',
  AGENT_RUN_LINK: 'Linked run',
}
