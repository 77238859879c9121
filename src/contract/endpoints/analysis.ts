import { GenerateSetupCommandsInput, SetupCommands } from '../analysis.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'

/** Finding out setup commands (spec §Setup commands, decisions §11). */
export const analysisEndpoints = {
  generateSetupCommands: {
    ...v1,
    tag: 'setup-commands',
    method: 'POST',
    path: '/v1/organizations/{org_id}/setup-commands/generate',
    summary: 'Find out how a repository is set up',
    description: 'Not in this version: a good request is answered 501.',
    scope: 'runs:write',
    bucket: 'setup_commands',
    params: org,
    body: GenerateSetupCommandsInput,
    problems: ['not_found', 'not_available'],
    response: SetupCommands,
  },
} as const satisfies Record<string, Endpoint>
