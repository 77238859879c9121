import type { OpenSecret } from './run-secrets.ts'

/** What the service's git signs in with, over http. */
export type RepositoryCredentials = { username: string; password: string }

/** Secrets of a repository that are for the service's own git, and for nobody else. */
export const GIT_TOKEN = 'GIT_TOKEN'
export const GIT_USERNAME = 'GIT_USERNAME'
/** What GitHub wants of an app; every other forge takes any name beside a token. */
const DEFAULT_USERNAME = 'x-access-token'

/** Of the repository itself: those of an organization would be sent to whichever server somebody registers. Null: it has none. */
export function repositoryCredentials(secrets: readonly OpenSecret[]): RepositoryCredentials | null {
  const own = (wanted: string) => secrets.find(({ name, repository_id }) => name === wanted && repository_id !== null)?.value.trim()
  const password = own(GIT_TOKEN)
  return password ? { username: own(GIT_USERNAME) || DEFAULT_USERNAME, password } : null
}

export const isForGitAlone = (repository_id: number | null, name: string): boolean =>
  repository_id !== null && (name === GIT_TOKEN || name === GIT_USERNAME)
