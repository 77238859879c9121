import { NOT_RUN } from '../core/runs/not-run.ts'
import type { PlaybookStep } from '../core/runs/playbook.ts'
import { callsOf, type SeenResult } from './conversation.ts'
import type { ModelMessage } from './port.ts'
import { failed, type Unit } from './scripted-steps.ts'

/** The unit whose turn it is. `again`: it was begun, and did not take effect; `look`: nobody knows, so its file is read first. */
export type Place = { at: number; how: 'next' | 'again' | 'look' }

/**
 * Where a script stands after the answers in `since`. A step whose worker died in it was closed as interrupted (specification.md#journal): what may be done
 * twice is done again, an edit is looked up, and any other stays for `checkResult`. Throws `script_failed` when the file does not tell.
 */
export function placeOf(units: Unit[], since: ModelMessage[]): Place {
  let place: Place = { at: 0, how: 'next' }
  for (const answer of since) if (answer.role === 'assistant') place = after(place, units, callsOf(answer, since)[0]?.result ?? null)
  return place
}

function after({ at, how }: Place, units: Unit[], result: SeenResult | null): Place {
  const unit = units[at]
  const { step } = unit ?? { step: null }
  const done: Place = { at: at + 1, how: 'next' }
  if (how === 'look' && unit && step?.kind === 'edit') {
    if (result === null || result.status === 'interrupted') return { at, how }
    const found = stateOf(step, result)
    if (found === 'unknown')
      throw failed(unit, `edit ${JSON.stringify(step.path)} was interrupted, and the file does not tell whether it was made`, '')
    return found === 'done' ? done : { at, how: 'again' }
  }
  if (result?.status !== 'interrupted') return done
  if (String(result.value.error).startsWith(NOT_RUN) || step?.kind === 'write' || step?.kind === 'plan') return { at, how: 'again' }
  return step?.kind === 'edit' ? { at, how: 'look' } : done
}

/** Whether an edit was made, by what is in its file now. Where the new text holds the old one, the old one tells nothing. */
function stateOf({ old, new: wanted }: PlaybookStep & { kind: 'edit' }, { status, value }: SeenResult): 'done' | 'undone' | 'unknown' {
  const { content, bytes } = value
  if (status !== 'ok' || typeof content !== 'string' || Buffer.byteLength(content) !== bytes) return 'unknown'
  if (wanted.includes(old)) return content.includes(wanted) ? 'done' : content.includes(old) ? 'undone' : 'unknown'
  if (content.includes(old)) return 'undone'
  return content.includes(wanted) ? 'done' : 'unknown'
}
