import type { KnownValue } from './known-value.ts'
import { isMcpSignIn } from './mcp-credentials.ts'
import { signInValues } from './mcp-sign-in.ts'
import type { SealContext, SealedValue, Sealer } from './sealing.ts'

/**
 * Returns the context that a secret is bound to: a repository's secret cannot be swapped for one of its
 * organization.
 */
export const secretContext = (
  organization_id: number,
  repository_id: number | null,
  name: string,
): SealContext => ({
  organization_id,
  scope: repository_id === null ? 'organization' : `repository:${repository_id}`,
  name,
})

export type SealedSecret = SealedValue & { name: string; repository_id: number | null; for_agent: boolean }
export type OpenSecret = KnownValue & { repository_id: number | null; for_agent: boolean }

/**
 * Returns the values of secrets, of a sign-in to an MCP server each of its own, and the names of those that
 * no configured key opens.
 */
export function openSecrets(sealer: Sealer, organization_id: number, rows: readonly SealedSecret[]) {
  const secrets: OpenSecret[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    const { name, repository_id, for_agent } = row
    try {
      const value = sealer.open(secretContext(organization_id, repository_id, name), row)
      for (const each of isMcpSignIn(name) ? signInValues(value) : [value])
        secrets.push({ name, value: each, repository_id, for_agent })
    } catch {
      unreadable.push(name)
    }
  }
  return { secrets, unreadable }
}

/** The name under which a canary is redacted: a value that no task needs and that looks like a credential. */
export const CANARY = 'canary'

/**
 * Returns the canary of a run, the same for each of its workers and readers of its files, so that a canary
 * copied into them is recognized.
 */
export const canaryOf = (sealer: Sealer, organization_id: number, run_id: number): string =>
  `arun_s_${sealer.derive({ organization_id, scope: 'canary', name: `${run_id}` }, 38)}`
