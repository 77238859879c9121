import { GenerateSetupCommandsInput, LogAnalysis, SetupCommands } from '../analysis.ts'
import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'

/** Setup commands and log analysis (spec §Setup commands, §Log analysis, decisions §11). */
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
  analyzeSandboxLogs: {
    ...v1,
    tag: 'sandbox',
    method: 'POST',
    path: '/v1/organizations/{org_id}/sandbox/{sandbox_id}/analyze-logs',
    summary: 'Analyze the logs of a sandbox',
    description: 'Takes no body. Not in this version: 501.',
    scope: 'runs:write',
    bucket: 'log_analysis',
    params: org.extend({ sandbox_id: id().describe('The sandbox') }),
    problems: ['not_available'],
    response: LogAnalysis,
  },
} as const satisfies Record<string, Endpoint>
