import { type CompletionReason, completionReasons } from '../../contract/runs/runs.ts'

/** What a turn that completed did and did not do. A fact that does not concern a kind of turn is absent. */
export type OutcomeFacts = {
  /** The agent gave an answer of the model, changed files, or used a tool that may have an effect. */
  had_effect?: boolean
  /** The agent gave an answer, of the model or its own. */
  answered?: boolean
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

/** Such an answer is often an error message. */
const UNFOUNDED = 'answered without a call of the model'
const MAX_COMMANDS = 3
const MAX_COMMAND = 200

/** What each reason has as its sentence in the answer; null: it does not hold. */
const rows: Record<CompletionReason, (facts: OutcomeFacts) => string | null> = {
  no_effect: ({ had_effect = true, answered = false }) =>
    had_effect ? null : `The agent ${answered ? UNFOUNDED : 'gave no answer'} and changed nothing.`,
  push_refused: ({ push_refusal }) => push_refusal ?? null,
  pull_request_refused: ({ pull_request_refusal: why }) =>
    why == null
      ? null
      : `The branch is pushed, but its pull request could not be opened or updated on the forge: ${why}`,
  checks_failed: ({ checks }) => (checks?.outcome === 'failed' ? checks.summary : null),
  checks_unfinished: ({ checks }) => (checks?.outcome === 'unfinished' ? checks.summary : null),
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

function setupSentence(commands: readonly string[]): string {
  const shown = commands.slice(0, MAX_COMMANDS).map(command => `\`${command.slice(0, MAX_COMMAND)}\``)
  const others = commands.length - shown.length
  const rest = others === 0 ? '' : ` and ${others} more`
  return `The setup of the workspace is incomplete, because these commands failed: ${shown.join(', ')}${rest}.`
}
