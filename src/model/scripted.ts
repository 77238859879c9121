import { REVIEW_TOOL } from '../contract/pull-requests/reviews.ts'
import {
  findPlaybook,
  type Playbook,
  type PlaybookVerdict,
  SCRIPTED_MODEL_ID,
} from '../core/runs/playbook.ts'
import { storedText } from '../core/text/stored-text.ts'
import {
  isPrompt,
  type Model,
  ModelError,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  without_limits,
} from './port.ts'
import { callsOf, countResponses, isChecksFailed, textOf } from './scripted-messages.ts'
import { positionOf } from './scripted-position.ts'
import { checkResult, inspectionOf, type Move, moveOf, toUnits } from './scripted-steps.ts'
import { shortReply, tourMove } from './scripted-tour.ts'

/**
 * Returns a model that needs no network: it plays the playbook of the latest prompt that has one, or shows
 * the repository. It is stateless: its position is read from the conversation, so a recovered run continues
 * at the right step.
 */
export function createScriptedModel(): Model {
  return { id: SCRIPTED_MODEL_ID, scripted: true, ...without_limits, price: () => '0', call }
}

async function call(request: ModelRequest): Promise<ModelResponse> {
  if (request.signal?.aborted) throw new ModelError('aborted', 'The call was stopped.')
  const next = verdictMove(request) ?? nextMove(request.messages)
  // A quoted text of YAML can spell characters that no prompt may hold.
  const move = {
    ...next,
    text: storedText(next.text),
    reasoning: next.reasoning && storedText(next.reasoning),
  }
  if (move.reasoning) request.on_delta?.({ kind: 'reasoning', text: move.reasoning })
  if (move.text) request.on_delta?.({ kind: 'text', text: move.text })
  const number = countResponses(request.messages) + 1
  const calls = move.calls.map((call, index) => ({ id: `script_${number}_${index + 1}`, ...call }))
  return {
    text: move.text,
    reasoning: move.reasoning,
    tool_calls: calls,
    finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: '0', raw: null },
    messages: [
      {
        role: 'assistant',
        content: [
          ...(move.reasoning ? [{ type: 'reasoning' as const, text: move.reasoning }] : []),
          ...(move.text ? [{ type: 'text' as const, text: move.text }] : []),
          ...calls.map(({ id, name, input }) => ({
            type: 'tool-call' as const,
            toolCallId: id,
            toolName: name,
            input,
          })),
        ],
      },
    ],
  }
}

function nextMove(messages: ModelMessage[]): Move {
  const script = findScript(messages)
  let ending: string | null = null
  if (script) {
    const units = toUnits(script.playbook)
    const since = messages.slice(script.index + 1)
    const { at, how } = positionOf(units, since)
    const unit = units[at]
    if (unit && how === 'inspect') return inspectionOf(unit)
    if (unit && how === 'repeat') return moveOf(unit, script.playbook)
    const done = units[at - 1]
    if (unit && done)
      checkResult(
        done,
        callsOf(
          since.findLast(message => message.role === 'assistant'),
          since,
        ),
      )
    if (unit) return moveOf(unit, script.playbook)
    const last = units.at(-1)
    if (last) ending = moveOf(last, script.playbook).text
    // Without steps for failed checks, the answer of the playbook stays the answer of the run.
    const latest = messages.findLast(message => message.role === 'user')
    if (ending !== null && latest && isChecksFailed(latest))
      return { reasoning: null, text: ending, calls: [] }
  }
  const start = turnStart(messages)
  const prompt = messages[start]
  const broken = prompt ? findPlaybook(textOf(prompt)) : null
  if (broken?.ok === false) {
    throw new ModelError(
      'script_failed',
      `The playbook of the prompt cannot be played: line ${broken.line}, ${broken.key}: ${broken.message}.`,
    )
  }
  const first = countResponses(messages.slice(0, Math.max(start, 0))) === 0
  return (script || !first ? null : tourMove(messages.slice(start + 1))) ?? shortReply(ending)
}

/**
 * Finds the latest prompt with a playbook. A later prompt without one (a steering message) does not stop its
 * script. After failed checks, the playbook's steps for that are played, from the beginning each time.
 */
function findScript(messages: ModelMessage[]): { index: number; playbook: Playbook } | null {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    const found = message && isPrompt(message) ? findPlaybook(textOf(message)) : null
    if (!found?.ok) continue
    const { playbook } = found
    const failed = messages.findLastIndex(isChecksFailed)
    if (failed > index && playbook.on_checks_failed !== null)
      return { index: failed, playbook: { ...playbook, steps: playbook.on_checks_failed } }
    return { index, playbook }
  }
  return null
}

/**
 * Returns the index of the prompt that started this turn: the latest one that is not between a tool call and
 * its result; -1 without one.
 */
function turnStart(messages: ModelMessage[]): number {
  return messages.findLastIndex((message, index) => {
    if (!isPrompt(message)) return false
    const before = messages.slice(0, index).findLast(earlier => earlier.role === 'assistant')
    return callsOf(before, messages).length === 0
  })
}

/**
 * Returns the playbook's response to a review, with the verdicts that it contains; null: the request is not a
 * review.
 */
function verdictMove({ messages, tools }: ModelRequest): Move | null {
  if (!tools.some(({ name }) => name === REVIEW_TOOL)) return null
  const found = messages.filter(isPrompt).map(message => findPlaybook(textOf(message)))
  const latest = found.findLast(playbook => playbook?.ok)
  const { evaluate_commit = null, evaluate_pr = null } = latest?.ok ? latest.playbook : {}
  const input = {
    ...(evaluate_commit && inputOf(evaluate_commit)),
    ...(evaluate_pr && { pull_request: inputOf(evaluate_pr) }),
  }
  return {
    text: '',
    reasoning: null,
    calls: Object.keys(input).length > 0 ? [{ name: REVIEW_TOOL, input }] : [],
  }
}

const PASSES = new Set(['pass', 'approve', 'approved', 'ok'])
const FAILS = new Set(['fail', 'reject', 'rejected', 'request_changes'])

/** Any other word stays unchanged and makes the verdict unusable. */
function inputOf({ verdict, findings }: PlaybookVerdict) {
  const word = verdict.trim().toLowerCase()
  return {
    verdict: PASSES.has(word) ? 'pass' : FAILS.has(word) ? 'fail' : verdict,
    findings: findings.map(finding => ({ ...finding, severity: finding.severity ?? 'warning' })),
  }
}
