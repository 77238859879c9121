import { changeDraft } from '../../ui/draft.ts'

/** The id of the follow-up box, for what leads to it from elsewhere on the page. */
export const FOLLOW_UP_ID = 'follow-up'

/** The id of the button that approves a push. */
export const APPROVE_ID = 'approve'

export const followUpDraft = (agent_run_id: number): string => `follow-up ${agent_run_id}`

/** Adds a paragraph to the follow-up that a person writes. */
export const addToFollowUp = (agent_run_id: number, text: string): void =>
  changeDraft(followUpDraft(agent_run_id), stored =>
    typeof stored === 'string' && stored.trim() !== '' ? `${stored.trimEnd()}\n\n${text}` : text,
  )
