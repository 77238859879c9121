import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import type { GitHost } from '../../git/process/git-host.ts'
import { readFilesAt } from '../../git/read/read-files.ts'
import type { Base } from '../base/base.ts'
import type { WorkerServices } from '../services.ts'

/** The paths that forges read, the most specific first. */
const PATHS = ['.github', '.gitea', '.forgejo', '', 'docs'].flatMap(folder =>
  ['pull_request_template.md', 'PULL_REQUEST_TEMPLATE.md'].map(name =>
    folder === '' ? name : `${folder}/${name}`,
  ),
)
const GITLAB = '.gitlab/merge_request_templates/Default.md'
const BYTES = 16 * 1024
/** A commit never changes, and a publication reads it three times. */
const cache = new Map<string, string | null>()
const MAX_CACHED = 200

/**
 * Returns the repository's template for pull requests, without mentions, as of the commit that the run
 * started from: the agent cannot have changed it.
 */
export async function readTemplate({ git }: Pick<WorkerServices, 'git'>, base: Base): Promise<string | null> {
  const key = `${base.repository.id}:${base.sha}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const template = await readFromCommit(git, base)
  for (const oldest of cache.size < MAX_CACHED ? [] : cache.keys().take(1)) cache.delete(oldest)
  cache.set(key, template)
  return template
}

async function readFromCommit(git: GitHost, base: Base): Promise<string | null> {
  const paths = [...PATHS, GITLAB]
  const found = await readFilesAt(git, base.repository.id, base.sha, paths, BYTES)
  const path = paths.find(candidate => found.has(candidate))
  const bytes = path === undefined ? undefined : found.get(path)?.bytes
  return bytes === undefined
    ? null
    : neutralMentions(new TextDecoder('utf-8', { fatal: false }).decode(bytes).replaceAll('\0', ''))
}
