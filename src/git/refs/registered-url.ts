import { realpath } from 'node:fs/promises'
import { type ParsedRepositoryUrl, parseRepositoryUrl, type RepositoryUrlPolicy } from './repository-url.ts'

/**
 * Validates the address of a repository that a member registers. A local path must exist and be allowed under
 * its real name too, which is used from then on: a link below an allowed folder must not lead out of it.
 */
export async function readRepositoryUrl(
  text: string,
  policy: RepositoryUrlPolicy,
): Promise<ParsedRepositoryUrl> {
  const parsed = parseRepositoryUrl(text, policy)
  if (!parsed.ok || parsed.kind !== 'local') return parsed
  const real = await realName(parsed.url)
  if (real === null)
    return { ok: false, reason: 'this local path does not exist, or the service may not read it' }
  const tops = await Promise.all(policy.local_paths.map(realName))
  return parseRepositoryUrl(real, { ...policy, local_paths: tops.filter(path => path !== null) })
}

const realName = (path: string): Promise<string | null> => realpath(path).catch(() => null)
