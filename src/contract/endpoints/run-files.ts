import { type Endpoint, run, v1 } from '../endpoint.ts'
import { RunFile, RunFileQuery, RunFiles, RunFilesQuery } from '../runs/run-files.ts'

const when =
  'As they were in the workspace after an entry of the trace, committed or not; without `seq` after the newest entry whose files are available. Ignored files are not included. When the files of an entry are not available: 409, with the newest entry whose files are. Values of secrets are redacted.'
const row = {
  ...v1,
  tag: 'agents',
  method: 'GET',
  scope: 'runs:read',
  bucket: 'standard',
  params: run,
  problems: ['conflict'],
} as const

export const runFileEndpoints = {
  listAgentRunFiles: {
    ...row,
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/files',
    summary: 'List a folder of the files of a run, or search their paths',
    description: `${when} The files after an entry never change, so that \`skip\` with the \`seq\` of the first page continues the list.`,
    query: RunFilesQuery,
    response: RunFiles,
  },
  getAgentRunFile: {
    ...row,
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/files/text',
    summary: 'Get the text of a file of a run',
    description: `${when} Of a large file its first MiB. A link, a submodule and a file that is not text have no text.`,
    query: RunFileQuery,
    response: RunFile,
  },
  downloadAgentRunFile: {
    ...row,
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/files/content',
    summary: 'Download a file of a run',
    description: `${when} Byte for byte except for secrets, always as an attachment of type \`application/octet-stream\`. 409 for more than 16 MiB.`,
    query: RunFileQuery,
    response: 'file',
    examples: { response: 'export const total = lines => sum(lines) * tax\n' },
  },
} as const satisfies Record<string, Endpoint>
