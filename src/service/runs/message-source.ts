import type { AgentRun } from '../../contract/runs/runs.ts'
import type { NewEntry } from '../../store/runs/append.ts'
import type { Actor } from '../context.ts'

/**
 * The origin of a prompt. `comment`: its entry in the trace when it was written elsewhere. `relation`: of a
 * new run to its parent, when it is not a child.
 */
export type MessageSource = {
  source_type: AgentRun['source_type']
  comment: NewEntry | null
  relation?: 'analysis'
}

/** Returns the source of a request: `CHAT` for the web page, `API` for every other caller. */
export const byCaller = ({ actor }: { actor: Pick<Actor, 'kind'> }): MessageSource => ({
  source_type: actor.kind === 'browser' ? 'CHAT' : 'API',
  comment: null,
})
