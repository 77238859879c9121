import type { FoundSetupCommands } from '../../../../src/contract/repositories/setup-commands.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'

/** The result of a run that searches for setup commands; null for other runs and before it has one. */
export function foundSetupOf({ source_type, result }: AgentRun): FoundSetupCommands | null {
  if (source_type !== 'SETUP_COMMANDS' || result === '') return null
  try {
    const found: unknown = JSON.parse(result)
    return isFoundSetup(found) ? found : null
  } catch {
    return null
  }
}

const isFoundSetup = (value: unknown): value is FoundSetupCommands =>
  typeof value === 'object' &&
  value !== null &&
  'commands' in value &&
  Array.isArray(value.commands) &&
  'detail' in value &&
  typeof value.detail === 'string'
