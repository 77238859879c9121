import { z } from 'zod'
import { model_apis, readJsonSetting } from '../model-settings.ts'
import { agent_permissions } from '../organizations/agent-permissions.ts'

/** Names of agents that a request may have without one of them being registered. */
const RESERVED = ['built_in', 'codegen']

/** What AGENTRUN_AGENTS states about one agent of another vendor. */
const agent = z.strictObject({
  label: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Name to show; absent: that of a known agent, else its id'),
  folder: z
    .string()
    .regex(/^\/[^\0]*[^\0/]$/, 'must be an absolute path without a slash at its end')
    .optional()
    .describe(
      'Folder of this machine with its programs, shown read-only as /opt/agents/ID; absent: they are in the image of the sandbox',
    ),
  command: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe(
      'Command that starts it in /workspace and speaks the Agent Client Protocol on its standard streams, instead of that of a known agent and the settings files that it writes; required for an unknown id',
    ),
  apis: z
    .array(z.enum(model_apis))
    .min(1)
    .optional()
    .describe('Wire formats in which it can call a model; required for an unknown id'),
  permissions: z
    .enum(agent_permissions)
    .optional()
    .describe(
      'What it gets when it requests a permission: it may, a person decides while the run waits, or it may not; default `allow`. With `command` the agent itself must be configured to request them',
    ),
  environment: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'),
      z.string().max(20_000),
    )
    .optional()
    .describe(
      'Its variables; {gateway} is the address of the model gateway, {model} the name of the model of the run, {api} its wire format',
    ),
})

const id = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,49}$/, 'an id has up to 50 lower-case letters, digits and _')
  .refine(name => !RESERVED.includes(name), `${RESERVED.join(' and ')} are names of the built-in agent`)

const schema = z.record(id, agent)

export type AgentSettings = z.output<typeof agent>

/**
 * Parses the JSON of AGENTRUN_AGENTS. Returns the agents by id, or every mistake with its field
 * (docs/how-to/other-agents.md).
 */
export function readAgentSettings(
  text: string,
): { agents: Record<string, AgentSettings> } | { mistakes: string[] } {
  const read = readJsonSetting(schema, text)
  return 'value' in read ? { agents: read.value } : read
}
