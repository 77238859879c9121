import type { AgentRun } from '../../contract/runs/runs.ts'
import type { NewEntry } from '../../store/runs/append.ts'

/** How a prompt came. `comment`: what the trace shows of it, where somebody said it elsewhere. `relation`: of a new run to its parent, when it is no child. */
export type MessageSource = { source_type: AgentRun['source_type']; comment: NewEntry | null; relation?: 'analysis' }

export const by_api: MessageSource = { source_type: 'API', comment: null }
