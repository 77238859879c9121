import { createHash } from 'node:crypto'
import type { KnownValue } from '../redaction/redact.ts'
import { SHORTEST_SECRET } from '../redaction/secret-forms.ts'
import { isForGitAlone } from './repository-credentials.ts'
import type { Sealed, Sealer, SealPlace } from './sealing.ts'

/** To what a secret is bound: those of a repository and of its organization are not exchanged for one another. */
export const secretPlace = (organization_id: number, repository_id: number | null, name: string): SealPlace => ({
  organization_id,
  scope: repository_id === null ? 'organization' : `repository:${repository_id}`,
  name,
})

export type SealedSecret = Sealed & { name: string; repository_id: number | null; for_agent: boolean }
export type OpenSecret = KnownValue & { repository_id: number | null; for_agent: boolean }

/** The values of secrets, and the names of those that no key of ours opens. */
export function openSecrets(sealer: Sealer, organization_id: number, rows: readonly SealedSecret[]) {
  const secrets: OpenSecret[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    const { name, repository_id, for_agent } = row
    try {
      const value = sealer.open(secretPlace(organization_id, repository_id, name), row)
      secrets.push({ name, value, repository_id, for_agent })
    } catch {
      unreadable.push(name)
    }
  }
  return { secrets, unreadable }
}

/** Names that the sandbox, its shell or its git obey: a secret of such a name would change what commands do. */
const OBEYED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|TERM|PAGER|CI|TMPDIR|PWD|OLDPWD|SHLVL|IFS|ENV|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|CDPATH|POSIXLY_CORRECT|P?PID|E?UID|NODE_OPTIONS|(?:LD|LC|DYLD|BASH|PERL5|PYTHON)_?[A-Z0-9_]*|(?:HTTPS?|FTP|ALL|NO)_PROXY|_)$/
const GIT = /^GIT_(?!.*_?(?:TOKEN|PASSWORD|KEY|SECRET|PAT|USER|USERNAME)$)/

export const mayBeVariable = (name: string): boolean => !OBEYED.test(name) && !GIT.test(name)

/** The variables of the agent's sandbox: what is for agents. */
export const agentVariables = (secrets: readonly OpenSecret[]) => variablesOf(secrets, ({ for_agent }) => for_agent)

/** The variables of setup commands: all but what is for our own git alone, and what could not be kept out of the trace. */
export const setupVariables = (secrets: readonly OpenSecret[]) =>
  variablesOf(
    secrets,
    ({ repository_id, name, value }) => !isForGitAlone(repository_id, name) && Buffer.byteLength(value.trim()) >= SHORTEST_SECRET,
  )

/** Stands for the secrets that setup commands get, and tells nothing of them: a keyed digest. */
export function setupSecretsMark(sealer: Sealer, organization_id: number, secrets: readonly OpenSecret[]): string {
  const name = createHash('sha256')
    .update(JSON.stringify(Object.entries(setupVariables(secrets)).sort()))
    .digest('hex')
  return sealer.derive({ organization_id, scope: 'environment', name }, 32)
}

/** A repository's secret stands before the organization's of the same name, also when it is for none. */
function variablesOf(secrets: readonly OpenSecret[], isGiven: (secret: OpenSecret) => boolean): Record<string, string> {
  const given = secrets.filter(secret => mayBeVariable(secret.name) && isGiven(secret))
  const ours = given.filter(({ repository_id }) => repository_id === null)
  const own = given.filter(({ repository_id }) => repository_id !== null)
  const hidden = new Set(secrets.filter(({ repository_id }) => repository_id !== null).map(({ name }) => name))
  return Object.fromEntries([...ours.filter(({ name }) => !hidden.has(name)), ...own].map(({ name, value }) => [name, value]))
}

/** What stands in the place of a canary: a value that no task needs, and that looks as if it were worth having. */
export const CANARY = 'canary'

/** The same for every owner of the run and for every reader of its files, so that one which was carried into them is known again. */
export const canaryOf = (sealer: Sealer, organization_id: number, run_id: number): string =>
  `arun_s_${sealer.derive({ organization_id, scope: 'canary', name: `${run_id}` }, 38)}`
