import { NOT_RUN } from '../core/runs/not-run.ts'
import type { PlaybookStep } from '../core/runs/playbook.ts'
import type { ModelMessage } from './port.ts'
import { callsOf, type SeenResult } from './scripted-messages.ts'
import { failed, type Unit } from './scripted-steps.ts'

/**
 * The next unit of a script. `repeat`: it was started and took no effect; `inspect`: its outcome is unknown,
 * so its file is read first.
 */
type Position = { at: number; how: 'next' | 'repeat' | 'inspect' }

/**
 * Returns the position of a script after the responses in `since`. A step whose worker died was closed as
 * interrupted (specification.md#journal): an idempotent step is repeated, the file of an edit is inspected,
 * and other steps fail in `checkResult`. Throws `script_failed` when the file does not show the outcome.
 */
export function positionOf(units: Unit[], since: ModelMessage[]): Position {
  let position: Position = { at: 0, how: 'next' }
  for (const response of since)
    if (response.role === 'assistant')
      position = after(position, units, callsOf(response, since)[0]?.result ?? null)
  return position
}

function after({ at, how }: Position, units: Unit[], result: SeenResult | null): Position {
  const unit = units[at]
  const { step } = unit ?? { step: null }
  const done: Position = { at: at + 1, how: 'next' }
  if (how === 'inspect' && unit && step?.kind === 'edit') {
    if (result === null || result.status === 'interrupted') return { at, how }
    const found = stateOf(step, result)
    if (found === 'unknown')
      throw failed(
        unit,
        `edit ${JSON.stringify(step.path)} was interrupted, and the file does not show whether it took effect`,
        '',
      )
    return found === 'done' ? done : { at, how: 'repeat' }
  }
  if (result?.status !== 'interrupted') return done
  if (String(result.value.error).startsWith(NOT_RUN) || step?.kind === 'write' || step?.kind === 'plan')
    return { at, how: 'repeat' }
  return step?.kind === 'edit' ? { at, how: 'inspect' } : done
}

/**
 * Whether an edit took effect, by the content of its file. If the new text contains the old one, only the new
 * one counts.
 */
function stateOf(
  { old, new: wanted }: PlaybookStep & { kind: 'edit' },
  { status, value }: SeenResult,
): 'done' | 'undone' | 'unknown' {
  const { content, bytes } = value
  if (status !== 'ok' || typeof content !== 'string' || Buffer.byteLength(content) !== bytes) return 'unknown'
  if (wanted.includes(old))
    return content.includes(wanted) ? 'done' : content.includes(old) ? 'undone' : 'unknown'
  if (content.includes(old)) return 'undone'
  return content.includes(wanted) ? 'done' : 'unknown'
}
