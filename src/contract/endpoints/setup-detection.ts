import { type Endpoint, org, v1 } from '../endpoint.ts'
import { GenerateSetupCommandsInput, SetupCommands } from '../runs/setup-detection.ts'

/** Detection of setup commands (specification.md#setup-and-analysis). */
export const setupDetectionEndpoints = {
  generateSetupCommands: {
    ...v1,
    tag: 'setup-commands',
    method: 'POST',
    path: '/v1/organizations/{org_id}/setup-commands/generate',
    summary: 'Detect how a repository is set up',
    description:
      "Starts a run that reads the setup instructions of the repository (lockfiles and manifests, AGENTS.md, .devcontainer, .cursor/environment.json, copilot-setup-steps.yml, CI, Dockerfile, README), tries commands in clean sandboxes and verifies them with the repository's own tests or build. Its `result` is JSON text: `commands`, `verified`, `saved`, `reason` (`toolchain_missing`, `registry_unreachable`, `command_failed`, `proof_failed`, `nothing_found`, `time_over`; null: verified), `detail`, `evidence` with the entries of the trace, `timings` in milliseconds and `environment_digest`. Rules are tried first; when none applies, the default model is queried if it is a language model. Commands that were verified by rules are saved for a repository that never had any; others must be accepted by a person with `PUT …/repos/{repo_id}/setup-commands`.",
    scope: 'runs:write',
    bucket: 'setup_commands',
    idempotent: true,
    params: org,
    body: GenerateSetupCommandsInput,
    problems: ['quota_exceeded', 'not_found', 'conflict'],
    response: SetupCommands,
  },
} as const satisfies Record<string, Endpoint>
