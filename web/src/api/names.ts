import { message_types, run_statuses } from '../../../src/client/sdk/table.ts'
import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type { RunStatus } from '../../../src/contract/runs/runs.ts'

/** The names of the contract as values. The build replaces the table by its values, without the schemas. */
export const RunStatuses = run_statuses as RunStatus[]
export const MessageTypes = message_types as MessageType[]
