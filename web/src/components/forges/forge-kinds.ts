import type { Result } from '../../../../src/contract/calls.ts'
import type { ForgeConnection, ForgeKind } from '../../../../src/contract/repositories/forges.ts'
import { call } from '../../api/client.ts'

type ForgeRepositories = Result<'listGitHubRepositories'>

type Kind = {
  name: string
  /** The initial value of the address; null if there is no sensible default. */
  url: string | null
  url_hint: string
  token_hint: string
  connect(url: string, token: string): Promise<ForgeConnection>
  disconnect(url: string): Promise<ForgeConnection>
  /** One page of the repositories that the connection can see. */
  repositories(url: string, skip: number, signal: AbortSignal): Promise<ForgeRepositories>
}

/**
 * What the page knows of each kind of forge. A new kind in the contract does not compile without an entry
 * here.
 */
export const forgeKinds: Record<ForgeKind, Kind> = {
  github: {
    name: 'GitHub',
    url: 'https://github.com',
    url_hint: 'github.com, or a GitHub Enterprise Server, without a path.',
    token_hint:
      'Use a machine user. Fine-grained: contents, pull requests, issues, commit statuses: write; actions, metadata: read.',
    connect: (url, token) => call('connectGitHub', { body: { url, token } }),
    disconnect: url => call('disconnectGitHub', { query: { url } }),
    repositories: (url, skip, signal) =>
      call('listGitHubRepositories', { query: { url, skip, limit: 100 }, signal }),
  },
  gitea: {
    name: 'Gitea or Forgejo',
    url: null,
    url_hint: 'The address of its web interface, including the path if it has one.',
    token_hint:
      "Use a machine user's token, with the scopes repository and issue: read and write, and user: read.",
    connect: (url, token) => call('connectGitea', { body: { url, token } }),
    disconnect: url => call('disconnectGitea', { query: { url } }),
    repositories: (url, skip, signal) =>
      call('listGiteaRepositories', { query: { url, skip, limit: 100 }, signal }),
  },
}
export const forgeKindNames = Object.keys(forgeKinds) as ForgeKind[]
