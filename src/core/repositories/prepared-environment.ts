import { createHash } from 'node:crypto'

/** What an environment that a machine keeps is prepared from. `manifests`: path and object name of each file that says what is installed. */
export type PreparedFrom = {
  commands: readonly string[]
  variables: Readonly<Record<string, string>>
  /** Stands for the secrets that the commands get, and tells nothing of them. */
  secrets: string
  manifests: readonly (readonly [path: string, object: string])[]
  /** Whose history the commands ran on: what one branch has prepared is nothing that another one trusts. */
  base_ref: string
  /** Stands for the programs of the machine. */
  toolchain: string
}

/** What it is found by on its machine, 32 hexadecimal digits: equal where the same commands would prepare the same. */
export function preparedEnvironmentKey({ commands, variables, secrets, manifests, base_ref, toolchain }: PreparedFrom): string {
  const named = Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const files = manifests.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([commands, named, secrets, files, base_ref, toolchain]))
    .digest('hex')
    .slice(0, 32)
}

/** Stands for the manifests alone. */
export const manifestsDigest = (manifests: PreparedFrom['manifests']): string =>
  createHash('sha256')
    .update(JSON.stringify(manifests.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')

/** Stands for what is run, 16 hexadecimal digits: the same commands with the same variables. */
export const setupDigest = (commands: readonly string[], variables: string): string =>
  createHash('sha256')
    .update(JSON.stringify([commands, variables]))
    .digest('hex')
    .slice(0, 16)

/** Stands for what is run and the secrets that it gets: what an environment was made by, as far as that is the same on every machine. */
export const madeByDigest = (setup_digest: string, secrets: string): string =>
  createHash('sha256').update(`${setup_digest} ${secrets}`).digest('hex').slice(0, 16)
