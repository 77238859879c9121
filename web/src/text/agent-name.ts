import { visible } from './visible.ts'

/** The agent of the service itself; those of other vendors are named by their id. */
export const agentName = (agent_type: string): string =>
  agent_type === 'built_in' ? 'Built-in' : visible(agent_type)
