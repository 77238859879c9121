import type { ModelApi } from '../../contract/model-settings.ts'
import type { AgentSettings } from '../../contract/runs/agent-settings.ts'
import { type CalledModel, KNOWN_AGENTS } from './known-agents.ts'

/** The agent of the service itself. */
export const BUILT_IN_AGENT = 'built_in'

/** An agent of another vendor that the operator has registered. */
export type RegisteredAgent = {
  id: string
  label: string
  /** The folder of this machine with its programs; null: the sandbox has them. */
  folder: string | null
  command: string
  apis: readonly ModelApi[]
  environment(model: CalledModel): Record<string, string>
}

/** Returns the registered agents by id, or what is missing: an id that the service does not know needs a command and wire formats. */
export function registerAgents(settings: Record<string, AgentSettings>): { agents: Map<string, RegisteredAgent> } | { mistakes: string[] } {
  const agents = new Map<string, RegisteredAgent>()
  const mistakes: string[] = []
  for (const [id, { label, folder, command, apis, environment = {} }] of Object.entries(settings)) {
    const known = KNOWN_AGENTS[id]
    const [start, formats] = [command ?? known?.command, apis ?? known?.apis]
    if (start === undefined) mistakes.push(`${id}, command is required`)
    if (formats === undefined) mistakes.push(`${id}, apis is required`)
    if (start === undefined || formats === undefined) continue
    agents.set(id, {
      ...{ id, label: label ?? known?.label ?? id, folder: folder ?? null, command: start, apis: formats },
      environment: model => ({ ...known?.environment(model), ...filled(environment, model) }),
    })
  }
  return mistakes.length > 0 ? { mistakes } : { agents }
}

/** The folder of an agent's programs inside a sandbox. */
export const agentFolder = (id: string): string => `/opt/agents/${id}`

function filled(environment: Record<string, string>, { gateway, name, api }: CalledModel): Record<string, string> {
  const values: Record<string, string> = { gateway, model: name, api }
  const fill = (text: string) => text.replace(/\{(gateway|model|api)\}/g, (_, key: string) => values[key] ?? '')
  return Object.fromEntries(Object.entries(environment).map(([key, text]) => [key, fill(text)]))
}
