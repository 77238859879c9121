import { id } from '../decimal.ts'
import { type Endpoint, repository, v1 } from '../endpoint.ts'
import { DroppedEnvironments, EnvironmentList } from '../repositories/environments.ts'
import { SetupCommandSettings, SetupCommandSettingsInput } from '../repositories/setup-commands.ts'

/** How the sandbox of a repository's runs is prepared before their agent begins (specification.md#setup-and-analysis). */
export const setupCommandEndpoints = {
  getSetupCommands: {
    ...v1,
    tag: 'setup-commands',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/setup-commands',
    summary: 'How the sandbox of a repository is set up',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    response: SetupCommandSettings,
  },
  setSetupCommands: {
    ...v1,
    tag: 'setup-commands',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/setup-commands',
    summary: 'Set how the sandbox of a repository is set up',
    description:
      'They run in a sandbox of their own, after the clone and before the agent: with all secrets of organization and repository, and with the way out that `setup` of `/egress` gives. Nothing that they started is left when the agent begins; what they wrote into the workspace and the home folder is. What is set replaces what was, for sandboxes that are set up from now on.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    body: SetupCommandSettingsInput,
    response: SetupCommandSettings,
  },
  listEnvironments: {
    ...v1,
    tag: 'setup-commands',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/environments',
    summary: 'What setup commands have prepared for later runs',
    description:
      'A run whose commands, variables, secrets, manifests, lockfiles, ref and machine are those of an environment stands on it instead of running the commands.',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    response: EnvironmentList,
  },
  dropEnvironment: {
    ...v1,
    tag: 'setup-commands',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/environments/{environment_id}',
    summary: 'Have one environment prepared anew',
    description: 'Runs that stand on it go on; later runs do not get it.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository.extend({ environment_id: id().describe('The environment') }),
    response: DroppedEnvironments,
  },
  dropEnvironments: {
    ...v1,
    tag: 'setup-commands',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/environments',
    summary: 'Have everything prepared anew',
    description: 'Runs that stand on one go on; later runs do not get it.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    response: DroppedEnvironments,
  },
} as const satisfies Record<string, Endpoint>
