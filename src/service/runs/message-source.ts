import type { AgentRun } from '../../contract/runs/runs.ts'
import type { NewEntry } from '../../store/runs/append.ts'

/**
 * The origin of a prompt. `comment`: its entry in the trace when it was written elsewhere. `relation`: of a new run to its parent, when it is
 * not a child.
 */
export type MessageSource = { source_type: AgentRun['source_type']; comment: NewEntry | null; relation?: 'analysis' }

export const by_api: MessageSource = { source_type: 'API', comment: null }
