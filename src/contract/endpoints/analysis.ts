import { type Endpoint, org, v1 } from '../endpoint.ts'
import { GenerateSetupCommandsInput, SetupCommands } from '../runs/analysis.ts'

/** Finding out setup commands (specification.md#setup-and-analysis). */
export const analysisEndpoints = {
  generateSetupCommands: {
    ...v1,
    tag: 'setup-commands',
    method: 'POST',
    path: '/v1/organizations/{org_id}/setup-commands/generate',
    summary: 'Find out how a repository is set up',
    description:
      "Starts a run that reads what the repository says (lockfiles and manifests, AGENTS.md, .devcontainer, .cursor/environment.json, copilot-setup-steps.yml, CI, Dockerfile, README), tries commands in clean sandboxes and proves them with the repository's own tests or build. Its `result` is JSON text: `commands`, `verified`, `saved`, `reason` (`toolchain_missing`, `registry_unreachable`, `command_failed`, `proof_failed`, `nothing_found`, `time_over`; null: verified), `detail`, `evidence` with the entries of the trace, `timings` in milliseconds and `environment_digest`. Works by rules; where the default model is a real one it is asked when these are at their end. Saved are commands that are proved by rules, for a repository that never had any; others a person accepts by `PUT …/repos/{repo_id}/setup-commands`.",
    scope: 'runs:write',
    bucket: 'setup_commands',
    idempotent: true,
    params: org,
    body: GenerateSetupCommandsInput,
    problems: ['quota_exceeded', 'not_found', 'conflict'],
    response: SetupCommands,
  },
} as const satisfies Record<string, Endpoint>
