import type { ModelApi } from '../../contract/model-settings.ts'
import type { AgentPermissions } from '../../contract/organizations/agent-permissions.ts'
import type { AgentSettings } from '../../contract/runs/agent-settings.ts'
import { homeFileCommand } from '../text/home-file.ts'
import { shellQuote } from '../text/shell-quote.ts'
import type { AgentPreset, AgentStart, CalledModel } from './agent-preset.ts'
import { KNOWN_AGENTS } from './known-agents.ts'

/** The agent of the service itself. */
export const BUILT_IN_AGENT = 'built_in'

/** An agent of another vendor that the operator has registered. */
export type RegisteredAgent = {
  id: string
  label: string
  /** The folder of this machine with its programs; null: the sandbox has them. */
  folder: string | null
  apis: readonly ModelApi[]
  /** What happens when it requests a permission: it gets it, a person decides, or it does not get it. */
  permissions: AgentPermissions
  /** Whether a later process continues its sessions, if it offers that. */
  continues: boolean
  /** Its package in npm, if the service knows it, and the version that was tested. */
  npm: AgentPreset['npm'] | null
  /**
   * The command writes what the agent reads from its home folder, and starts it. It requests permissions
   * unless all are given; a command of the operator is used as it is.
   */
  start(model: CalledModel, permissions: AgentPermissions): Pick<AgentStart, 'command' | 'environment'>
}

/**
 * Returns the registered agents by id, or what is missing: an id that the service does not know needs a
 * command and wire formats.
 */
export function registerAgents(
  settings: Record<string, AgentSettings>,
): { agents: Map<string, RegisteredAgent> } | { mistakes: string[] } {
  const agents = new Map<string, RegisteredAgent>()
  const mistakes: string[] = []
  for (const [
    id,
    { label, folder, command, apis, environment = {}, permissions = 'allow' },
  ] of Object.entries(settings)) {
    const known = KNOWN_AGENTS[id]
    const formats = apis ?? known?.apis
    if (command === undefined && known === undefined) mistakes.push(`${id}, command is required`)
    if (formats === undefined) mistakes.push(`${id}, apis is required`)
    if (formats === undefined) continue
    agents.set(id, {
      id,
      label: label ?? known?.label ?? id,
      folder: folder ?? null,
      apis: formats,
      permissions,
      continues: known?.continues !== false,
      npm: command === undefined ? (known?.npm ?? null) : null,
      start(model, policy) {
        const start = known?.start(model, policy !== 'allow')
        return {
          command: command ?? withFiles(start?.command ?? '', start?.files ?? {}),
          environment: { ...start?.environment, ...filled(environment, model) },
        }
      },
    })
  }
  return mistakes.length > 0 ? { mistakes } : { agents }
}

/** The folder of an agent's programs inside a sandbox. */
export const agentFolder = (id: string): string => `/opt/agents/${id}`

function withFiles(command: string, files: Record<string, string>): string {
  const writes = Object.entries(files).map(
    ([path, text]) => `${homeFileCommand(path, `printf %s ${shellQuote(text)}`)} && `,
  )
  return writes.join('') + command
}

function filled(
  environment: Record<string, string>,
  { gateway, name, api }: CalledModel,
): Record<string, string> {
  const values: Record<string, string> = { gateway, model: name, api }
  const fill = (text: string) =>
    text.replace(/\{(gateway|model|api)\}/g, (_, key: string) => values[key] ?? '')
  return Object.fromEntries(Object.entries(environment).map(([key, text]) => [key, fill(text)]))
}
