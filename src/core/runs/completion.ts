import { type CompletionReason, completionReasons } from '../../contract/runs/runs.ts'

/** What a turn that completed did and did not do. A fact that does not concern a kind of turn is absent. */
export type OutcomeFacts = {
  /** The agent gave an answer of the model, changed files, or used a tool that may have an effect. */
  had_effect?: boolean
  /** The agent gave an answer, of the model or its own. */
  answered?: boolean
  /**
   * Paths whose changes git does not commit, of an agent that changed files and has nothing new on the
   * branch.
   */
  uncommitted?: readonly string[]
  /** The entries of actions whose changes were lost with a worker. */
  lost_actions?: readonly number[]
  /** The agent aborted its last call of the model, or went on without its response. */
  last_response_missing?: boolean
  /** Why the branch was not pushed. */
  push_refusal?: string | null
  /** Why the forge has no pull request of the pushed head. */
  pull_request_refusal?: string | null
  /** The end of the checks of the pushed head, unless they passed. */
  checks?: { outcome: 'failed' | 'unfinished'; summary: string } | null
  /** What the reviews of the pushed head failed. */
  failed_reviews?: readonly string[]
  /** The setup commands that failed in the workspace of the agent. */
  failed_setup?: readonly string[]
  /** Whether the setup commands that were detected work. */
  setup_verified?: boolean
  /** How the only tool call of the run ended. */
  tool_status?: string
  /** A model was queried for an explanation and gave none. */
  explanation_missing?: boolean
}

const MAX_COMMANDS = 3
const MAX_COMMAND = 200
const MAX_PATHS = 5
const MAX_ACTIONS = 10

/** What each reason has as its sentence in the answer; null: it does not hold. */
const rows: Record<CompletionReason, (facts: OutcomeFacts) => string | null> = {
  no_effect: facts => uncommittedSentence(facts) ?? inactiveSentence(facts),
  push_refused: ({ push_refusal }) => push_refusal ?? null,
  pull_request_refused: ({ pull_request_refusal: why }) =>
    why == null
      ? null
      : `The branch is pushed, but its pull request could not be opened or updated on the forge: ${why}`,
  checks_failed: ({ checks }) => (checks?.outcome === 'failed' ? checks.summary : null),
  checks_unfinished: ({ checks }) => (checks?.outcome === 'unfinished' ? checks.summary : null),
  work_lost: ({ lost_actions = [] }) => (lost_actions.length === 0 ? null : lostSentence(lost_actions)),
  last_response_missing: ({ last_response_missing = false }) =>
    last_response_missing
      ? 'The last call of the model has no response, so the work of the agent may be unfinished.'
      : null,
  review_failed: ({ failed_reviews = [] }) =>
    failed_reviews.length === 0 ? null : `The review failed: ${failed_reviews.join(' and ')}.`,
  setup_failed: ({ failed_setup = [] }) => (failed_setup.length === 0 ? null : setupSentence(failed_setup)),
  setup_unverified: ({ setup_verified = true }) =>
    setup_verified ? null : 'The setup commands could not be verified.',
  tool_failed: ({ tool_status = 'ok' }) =>
    tool_status === 'ok' ? null : `The tool call failed: its status is ${tool_status}.`,
  explanation_failed: ({ explanation_missing = false }) =>
    explanation_missing ? 'The model gave no explanation of the findings.' : null,
}

/**
 * Returns why a turn did not do everything that was requested, and a sentence for each reason that holds. Of
 * several reasons the first in the order of `completionReasons` is that of the run: what was lost for the
 * caller comes before what is only in doubt.
 */
export function completionOf(facts: OutcomeFacts): { reason: CompletionReason | null; sentences: string[] } {
  const held = completionReasons.flatMap(reason => {
    const sentence = rows[reason](facts)
    return sentence === null ? [] : [{ reason, sentence }]
  })
  return { reason: held[0]?.reason ?? null, sentences: held.map(({ sentence }) => sentence) }
}

/** An answer that is not of the model is often an error message. */
function inactiveSentence(facts: OutcomeFacts): string | null {
  const { had_effect = true, answered = false, last_response_missing = false } = facts
  if (had_effect) return null
  const unfounded = last_response_missing
    ? 'answered without a response of the model to its last call'
    : 'answered without a call of the model'
  return `The agent ${answered ? unfounded : 'gave no answer'} and changed nothing.`
}

function uncommittedSentence({ uncommitted = [] }: OutcomeFacts): string | null {
  if (uncommitted.length === 0) return null
  const paths = listed(
    uncommitted.map(path => `\`${path}\``),
    MAX_PATHS,
  )
  return `Nothing that the agent changed is in a commit, because git leaves these paths out: ${paths}.`
}

function lostSentence(actions: readonly number[]): string {
  const entries = listed(actions.map(String), MAX_ACTIONS)
  return `Changes of some actions were lost before they were stored. The agent was informed, but they may be missing (entries ${entries}).`
}

function listed(items: readonly string[], max: number): string {
  const others = items.length - max
  return `${items.slice(0, max).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}

function setupSentence(commands: readonly string[]): string {
  const shown = listed(
    commands.map(command => `\`${command.slice(0, MAX_COMMAND)}\``),
    MAX_COMMANDS,
  )
  return `The setup of the workspace is incomplete, because these commands failed: ${shown}.`
}
