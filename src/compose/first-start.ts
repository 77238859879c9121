import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { SAMPLE_FILES } from '../core/repositories/sample.ts'
import { createRepository } from '../git/objects/new-repository.ts'
import { parseRepositoryUrl } from '../git/refs/repository-url.ts'
import { type FirstStartResult, firstStart } from '../service/access/first-start.ts'
import type { Parts } from './parts.ts'

/** `missing_repository`: where the operator's local repository should be, when nothing is there. */
type FirstStart = { started: FirstStartResult; missing_repository: string | null }

/** Makes what an empty database lacks: organization, administrator, token, repository. */
export async function prepareFirstStart({ config, data, db, git, log }: Parts): Promise<FirstStart> {
  const repository = initialRepository(config)
  // No reason to stay down: a disk that is mounted later, or a folder that is created later, is found by the
  // runs.
  const missing_repository =
    repository?.kind === 'local' && !existsSync(repository.url) ? repository.url : null
  if (missing_repository !== null)
    log('error', 'AGENTRUN_INIT_REPO_URL: nothing is there', { path: missing_repository })
  const started = await firstStart(db, {
    organization_name: config.AGENTRUN_INIT_ORG,
    token: config.AGENTRUN_INIT_TOKEN ?? null,
    wire_profile: config.AGENTRUN_INIT_WIRE_PROFILE,
    repository,
    sample: {
      forced: config.AGENTRUN_SAMPLE,
      create: async () => {
        const path = join(data.root, 'git', 'sample-invoice.git')
        await createRepository(git, path, {
          files: SAMPLE_FILES,
          message: 'Add up an invoice',
          author: 'Sample <sample@agentrun.invalid>',
        })
        return path
      },
    },
  })
  return { started, missing_repository }
}

function initialRepository(config: Config) {
  const given = config.AGENTRUN_INIT_REPO_URL
  if (given === undefined) return null
  const url = /^\.{1,2}(\/|$)/.test(given) ? resolve(given) : given
  const parsed = parseRepositoryUrl(url, {
    local_paths: [url.replace(/^file:\/\//, ''), ...config.AGENTRUN_REPO_PATHS],
    allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT,
  })
  if (!parsed.ok) throw new Error(`AGENTRUN_INIT_REPO_URL: ${parsed.reason}`)
  return { name: parsed.name, full_name: parsed.full_name, url: parsed.url, kind: parsed.kind }
}
