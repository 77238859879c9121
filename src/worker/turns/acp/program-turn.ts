import type { Model, ModelEndpoint } from '../../../model/port.ts'
import type { AgentProgram } from '../../sandbox/agent-program.ts'
import type { AgentTurn } from '../begin-conversation.ts'

/** A turn whose agent is a program in the sandbox. */
export type ProgramTurn = AgentTurn & { program: AgentProgram; model: Model & { endpoint: ModelEndpoint } }
