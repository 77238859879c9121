import { id } from '../decimal.ts'
import { type Endpoint, repository, v1 } from '../endpoint.ts'
import { DroppedEnvironments, EnvironmentList } from '../repositories/environments.ts'
import { SetupCommandSettings, SetupCommandSettingsInput } from '../repositories/setup-commands.ts'

/**
 * The preparation of the sandbox of a repository's runs before their agent starts
 * (specification.md#setup-and-analysis).
 */
export const setupCommandEndpoints = {
  getSetupCommands: {
    ...v1,
    tag: 'setup-commands',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/setup-commands',
    summary: 'Get the setup commands of a repository',
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
    summary: 'Set the setup commands of a repository',
    description:
      'They run in a separate sandbox, after the clone and before the agent: with all secrets of organization and repository, and with the network access of `setup` in `/egress`. Their processes end before the agent starts; files that they wrote into the workspace and the home folder stay. Replaces all settings, for sandboxes that are set up from now on.',
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
    summary: 'List the prepared environments of a repository',
    description:
      'A run reuses an environment with the same commands, variables, secrets, manifests, lockfiles, ref and machine instead of running the commands.',
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
    summary: 'Discard one environment',
    description: 'Runs that use it continue; later runs prepare a new one.',
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
    summary: 'Discard all environments',
    description: 'Runs that use one continue; later runs prepare new ones.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    response: DroppedEnvironments,
  },
} as const satisfies Record<string, Endpoint>
