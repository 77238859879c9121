import { createHash } from 'node:crypto'

/** What the commands that were found out were proved with. `lockfiles`: path → what names the content, such as the id of its blob; `toolchain`: program → version. */
export type ProvedSetup = {
  commands: readonly string[]
  variables: Readonly<Record<string, string>>
  lockfiles: Readonly<Record<string, string>>
  base_sha?: string
  toolchain: Readonly<Record<string, string>>
}

/** The `environment_digest` of the result: the same in whatever order files and programs are named; commands are in the order that they run in. */
export function provedSetupDigest({ commands, variables, lockfiles, base_sha, toolchain }: ProvedSetup): string {
  const sorted = (set: Readonly<Record<string, string>>) => Object.entries(set).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const parts = [commands, sorted(variables), sorted(lockfiles), base_sha ?? null, sorted(toolchain)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
