import { expect } from 'vitest'
import { deleteEgressOf, getEgress, listEgressOfRun, saveEgress } from '../../../src/store/access/egress.ts'
import {
  deleteMcpServer,
  deleteMcpServersOf,
  endRenewal,
  getMcpServer,
  listMcpServers,
  reserveRenewal,
  saveMcpServer,
} from '../../../src/store/access/mcp-servers.ts'
import { repositoryOf } from '../../../src/store/access/reach.ts'
import {
  getRepository,
  holdRepository,
  lockRepository,
  ownRepositoryIds,
  removeRepository,
  setDefaultBranch,
  setSetupStatus,
  updateRepository,
} from '../../../src/store/access/repositories.ts'
import {
  deleteSecret,
  deleteSecretsOf,
  getSealedSecret,
  listSealedSecrets,
  listSecrets,
  replaceSealedSecret,
  saveSecret,
} from '../../../src/store/access/secrets.ts'
import {
  deleteCheckCommandsOf,
  getCheckCommands,
  saveCheckCommands,
} from '../../../src/store/pull-requests/check-commands.ts'
import {
  getCheckSuiteSettings,
  saveCheckSuiteSettings,
} from '../../../src/store/pull-requests/check-suite-settings.ts'
import { findRunsAt } from '../../../src/store/pull-requests/check-waits.ts'
import {
  listCheckNames,
  listCheckStates,
  listChecks,
  saveCheck,
} from '../../../src/store/pull-requests/checks.ts'
import { getStartup, insertStartup, startupMetrics } from '../../../src/store/runs/run-startups.ts'
import {
  countEnvironmentUse,
  deleteEnvironments,
  findEnvironment,
  listEnvironments,
} from '../../../src/store/workspaces/environments.ts'
import {
  deleteSetupCommandsOf,
  getSetupCommands,
  lastFoundSetup,
  saveSetupCommands,
} from '../../../src/store/workspaces/setup-commands.ts'
import { addEnvironment } from '../access/second-organization.ts'
import type { Ours, Reaches } from './ours.ts'
import { check, egress, mcp_server, no_settings, secret, setup_commands, startup } from './samples.ts'

/** Settings of a repository and its known commits: the other organization (`org`) accessing ours. */
export const reachesOfRepositories = ({ app, mine, other }: Ours): Reaches => ({
  ownRepositoryIds: (db, org) => ownRepositoryIds(db, org, [mine.repo]),
  getCheckSuiteSettings: (db, org) => getCheckSuiteSettings(db, org, mine.repo),
  saveCheckSuiteSettings: (db, org) =>
    saveCheckSuiteSettings(db, org, mine.repo, { ...no_settings, check_retry_count: 9 }),
  getEgress: (db, org) => getEgress(db, org, mine.repo),
  listEgressOfRun: (db, org) => listEgressOfRun(db, org, mine.repo),
  deleteEgressOf: (db, org) => deleteEgressOf(db, org, mine.repo),
  saveEgress: async (db, org) => {
    await expect(saveEgress(db, org, { ...egress, repository_id: mine.repo }, other.user_id)).rejects.toThrow(
      /foreign key/,
    )
  },
  insertStartup: (db, org) => insertStartup(db, org, mine.run, null, startup),
  getStartup: (db, org) => getStartup(db, org, mine.run),
  startupMetrics: async (db, org) => {
    const { runs } = await startupMetrics(db, org, mine.repo, new Date(0))
    return runs === 0 ? undefined : runs
  },
  findEnvironment: (db, org) =>
    findEnvironment(db, org, {
      repository_id: mine.repo,
      folder_id: 'elsewhere',
      key: mine.environment_key,
      max_age_seconds: 1_000,
    }),
  countEnvironmentUse: (db, org) => countEnvironmentUse(db, org, mine.environment),
  listEnvironments: (db, org) => listEnvironments(db, org, mine.repo),
  deleteEnvironments: (db, org) => deleteEnvironments(db, org, mine.repo, null),
  insertEnvironment: async (_db, organization_id) => {
    const owners = { organization_id, repository_id: mine.repo, run_id: mine.run }
    await expect(addEnvironment(app.db, owners, 'theirs')).rejects.toThrow(/foreign key/)
  },
  getSetupCommands: (db, org) => getSetupCommands(db, org, mine.repo),
  lastFoundSetup: (db, org) => lastFoundSetup(db, org, mine.repo),
  deleteSetupCommandsOf: (db, org) => deleteSetupCommandsOf(db, org, mine.repo),
  saveSetupCommands: async (db, org) => {
    await expect(saveSetupCommands(db, org, mine.repo, setup_commands, other.user_id)).rejects.toThrow(
      /foreign key/,
    )
  },
  getCheckCommands: (db, org) => getCheckCommands(db, org, mine.repo),
  deleteCheckCommandsOf: (db, org) => deleteCheckCommandsOf(db, org, mine.repo),
  saveCheckCommands: async (db, org) => {
    await expect(saveCheckCommands(db, org, mine.repo, [], other.user_id)).rejects.toThrow(/foreign key/)
  },
  listChecks: (db, org) => listChecks(db, org, [{ repository_id: mine.repo, head_sha: 'b' }]),
  listCheckStates: (db, org) => listCheckStates(db, org, [{ repository_id: mine.repo, head_sha: 'b' }]),
  listCheckNames: (db, org) => listCheckNames(db, org, mine.repo, 10),
  saveCheck: (db, org) => saveCheck(db, org, mine.repo, { ...check, attempt: 2 }),
  setSetupStatus: (db, org) => setSetupStatus(db, org, mine.repo, 'SETUP'),
  deleteSecret: (db, org) => deleteSecret(db, org, mine.repo, 'TOKEN'),
  deleteSecretsOf: (db, org) => deleteSecretsOf(db, org, mine.repo),
  listMcpServers: (db, org) => listMcpServers(db, org, mine.repo, { skip: 0, limit: 100 }),
  getMcpServer: (db, org) => getMcpServer(db, org, mine.repo, 'tickets'),
  deleteMcpServer: (db, org) => deleteMcpServer(db, org, mine.repo, 'tickets'),
  deleteMcpServersOf: (db, org) => deleteMcpServersOf(db, org, mine.repo),
  saveMcpServer: async (db, org) => {
    await expect(
      saveMcpServer(db, { ...mcp_server, organization_id: org, repository_id: mine.repo }, 20),
    ).rejects.toThrow(/foreign key/)
  },
  reserveRenewal: (db, org) => reserveRenewal(db, org, mine.repo, 'tickets', 1),
  endRenewal: (db, org) => endRenewal(db, org, mine.repo, 'tickets', 'now'),
  getSealedSecret: (db, org) => getSealedSecret(db, org, mine.repo, 'TOKEN'),
  replaceSealedSecret: (db, org) => replaceSealedSecret(db, org, mine.repo, 'TOKEN', secret),
  listSealedSecrets: (db, org) => listSealedSecrets(db, org, mine.repo),
  listSecrets: (db, org) => listSecrets(db, org, mine.repo, { skip: 0, limit: 100 }),
  saveSecret: async (db, org) => {
    await expect(
      saveSecret(db, { ...secret, organization_id: org, repository_id: mine.repo }, 100),
    ).rejects.toThrow(/foreign key/)
  },
  repositoryOf: (db, org) => repositoryOf(db, org, 'run', mine.run),
  getRepository: (db, org) => getRepository(db, org, mine.repo),
  holdRepository: (db, org) => holdRepository(db, org, mine.repo),
  lockRepository: (db, org) => lockRepository(db, org, mine.repo),
  removeRepository: (db, org) => removeRepository(db, org, mine.repo),
  updateRepository: (db, org) =>
    updateRepository(db, org, mine.repo, { name: 'theirs', archived: true, base_branch: 'x' }),
  findRunsAt: (db, org) => findRunsAt(db, org, mine.repo, 'b'),
  setDefaultBranch: (db, org) => setDefaultBranch(db, org, mine.repo, 'theirs'),
})
