import type { Body, Result } from '../../../../../src/contract/calls.ts'

type SetupSettings = Result<'getSetupCommands'>

export type Variable = { name: string; value: string }

/** The setup commands as the form edits them. */
type SetupDraft = Pick<SetupSettings, 'commands' | 'maintenance_commands' | 'on_failure'> & {
  variables: Variable[]
  timeout_seconds: string
}

export const draftOf = ({
  commands,
  maintenance_commands,
  on_failure,
  variables,
  timeout_seconds,
}: SetupSettings): SetupDraft => ({
  commands,
  maintenance_commands,
  on_failure,
  variables: Object.entries(variables).map(([name, value]) => ({ name, value })),
  timeout_seconds: String(timeout_seconds),
})

const filled = (commands: string[]) => commands.filter(command => command.trim() !== '')
const named = (variables: Variable[]) =>
  variables.filter(({ name, value }) => name.trim() !== '' || value !== '')

/** The request for a draft. Rows that were left empty are not part of it. */
export const bodyOf = ({
  commands,
  maintenance_commands,
  variables,
  on_failure,
  timeout_seconds,
}: SetupDraft): Body<'setSetupCommands'> => ({
  commands: filled(commands),
  maintenance_commands: filled(maintenance_commands),
  variables: Object.fromEntries(named(variables).map(({ name, value }) => [name.trim(), value])),
  on_failure,
  timeout_seconds: Number(timeout_seconds),
})

/** Why a draft cannot be sent, or null. The service reports every other problem. */
export function problemOf({ variables }: SetupDraft): string | null {
  const names = named(variables).map(({ name }) => name.trim())
  if (names.includes('')) return 'Each variable needs a name'
  return new Set(names).size === names.length ? null : 'Two variables have the same name'
}
