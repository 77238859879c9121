import type { ForgeConnection, ForgeKind } from '../../../../src/contract/repositories/forges.ts'
import { call } from '../../api/client.ts'

type Kind = {
  name: string
  /** What stands in the form before anybody writes; null: nobody can guess it. */
  url: string | null
  url_hint: string
  token_hint: string
  connect(url: string, token: string): Promise<ForgeConnection>
  disconnect(url: string): Promise<ForgeConnection>
}

/** What the page has to know of each kind: a new one in the contract is one here, or this does not compile. */
export const forgeKinds: Record<ForgeKind, Kind> = {
  github: {
    name: 'GitHub',
    url: 'https://github.com',
    url_hint: 'github.com, or a GitHub Enterprise Server, without a path.',
    token_hint: 'Use a machine user. Fine-grained: contents, pull requests, issues, commit statuses: write; actions, metadata: read.',
    connect: (url, token) => call('connectGitHub', { body: { url, token } }),
    disconnect: url => call('disconnectGitHub', { query: { url } }),
  },
  gitea: {
    name: 'Gitea or Forgejo',
    url: null,
    url_hint: 'Where people find it, with its path if it has one.',
    token_hint: "Use a machine user's token, with the scopes repository and issue: read and write, and user: read.",
    connect: (url, token) => call('connectGitea', { body: { url, token } }),
    disconnect: url => call('disconnectGitea', { query: { url } }),
  },
}
export const forgeKindNames = Object.keys(forgeKinds) as ForgeKind[]
