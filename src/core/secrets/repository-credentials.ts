import type { OpenSecret } from './run-secrets.ts'

/** The credentials of the service's git over HTTP. */
export type RepositoryCredentials = { username: string; password: string }

/** Secrets of a repository that only the service's own git uses. */
const GIT_TOKEN = 'GIT_TOKEN'
const GIT_USERNAME = 'GIT_USERNAME'
/** GitHub requires this name for an app; every other forge accepts any name with a token. */
const DEFAULT_USERNAME = 'x-access-token'

/**
 * Returns the credentials of the repository itself: an organization's would be sent to any server that a
 * member registers. Null: it has none.
 */
export function repositoryCredentials(secrets: readonly OpenSecret[]): RepositoryCredentials | null {
  const own = (wanted: string) =>
    secrets.find(({ name, repository_id }) => name === wanted && repository_id !== null)?.value.trim()
  const password = own(GIT_TOKEN)
  return password ? { username: own(GIT_USERNAME) || DEFAULT_USERNAME, password } : null
}

export const isForGitAlone = (repository_id: number | null, name: string): boolean =>
  repository_id !== null && (name === GIT_TOKEN || name === GIT_USERNAME)
