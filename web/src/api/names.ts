import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type { RunStatus } from '../../../src/contract/runs/runs.ts'

/** The names of the contract as values, without its schemas in the bundle. A missing or wrong one does not compile. */
const statuses: Record<RunStatus, true> = {
  queued: true,
  starting: true,
  running: true,
  waiting: true,
  paused: true,
  cancelling: true,
  completed: true,
  failed: true,
  cancelled: true,
}
const message_types: Record<MessageType, true> = {
  ACTION: true,
  PLAN_EVALUATION: true,
  ERROR: true,
  USER_MESSAGE: true,
  FINAL_ANSWER: true,
  INITIAL_PR_GENERATION: true,
  PR_CREATION_FAILED: true,
  DETECT_PR_ERRORS: true,
  FIX_PR_ERRORS: true,
  PR_EVALUATION: true,
  COMMIT_EVALUATION: true,
  USER_GITHUB_ISSUE_COMMENT: true,
  AGENT_RUN_LINK: true,
}

export const RunStatuses = Object.keys(statuses) as RunStatus[]
export const MessageTypes = Object.keys(message_types) as MessageType[]
