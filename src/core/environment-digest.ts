import { createHash } from 'node:crypto'

/** What a prepared environment follows from. `lockfiles`: path → what names the content, such as the id of its blob; `toolchain`: program → version. */
export type Environment = {
  commands: readonly string[]
  variables: Readonly<Record<string, string>>
  lockfiles: Readonly<Record<string, string>>
  base_sha?: string
  toolchain: Readonly<Record<string, string>>
}

/** The same environment has the same digest, in whatever order its files and programs are named; commands are in the order that they run in. */
export function environmentDigest({ commands, variables, lockfiles, base_sha, toolchain }: Environment): string {
  const sorted = (set: Readonly<Record<string, string>>) => Object.entries(set).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const parts = [commands, sorted(variables), sorted(lockfiles), base_sha ?? null, sorted(toolchain)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
