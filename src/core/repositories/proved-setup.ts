import { createHash } from 'node:crypto'

/**
 * The inputs with which detected commands were verified. `lockfiles`: path → an id of the content, such as
 * that of its blob; `toolchain`: program → version.
 */
export type ProvedSetup = {
  commands: readonly string[]
  variables: Readonly<Record<string, string>>
  lockfiles: Readonly<Record<string, string>>
  base_sha?: string
  toolchain: Readonly<Record<string, string>>
}

/**
 * Returns the `environment_digest` of the result: independent of the order of files and programs; commands
 * are in the order in which they run.
 */
export function provedSetupDigest({
  commands,
  variables,
  lockfiles,
  base_sha,
  toolchain,
}: ProvedSetup): string {
  const sorted = (set: Readonly<Record<string, string>>) =>
    Object.entries(set).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const parts = [commands, sorted(variables), sorted(lockfiles), base_sha ?? null, sorted(toolchain)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
