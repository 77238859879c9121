import { completionOf, type OutcomeFacts } from '../../core/runs/completion.ts'
import type { Completed } from '../../core/runs/outcome.ts'

/** Returns the end of a turn with an answer, which names everything that was not done. */
export function completedTurn({ text, thought }: Pick<Completed, 'text' | 'thought'>, facts: OutcomeFacts): Completed {
  const { reason, sentences } = completionOf(facts)
  return { kind: 'completed', text: [text, ...sentences].join('\n\n'), thought, reason }
}
