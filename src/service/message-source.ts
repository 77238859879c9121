import type { AgentRun } from '../contract/runs.ts'
import type { NewEntry } from '../store/append.ts'

/** How a prompt came. `comment`: what the trace shows of it, where somebody said it elsewhere. */
export type MessageSource = { source_type: AgentRun['source_type']; comment: NewEntry | null }

export const by_api: MessageSource = { source_type: 'API', comment: null }
