import { createHash } from 'node:crypto'

/**
 * The inputs of a stored environment. `manifests`: path and object name of each file that declares what is
 * installed.
 */
export type PreparedFrom = {
  commands: readonly string[]
  variables: Readonly<Record<string, string>>
  /** A digest of the secrets that the commands get, which reveals nothing about them. */
  secrets: string
  manifests: readonly (readonly [path: string, object: string])[]
  /** The branch on whose history the commands ran: an environment of one branch is not trusted by another. */
  base_ref: string
  /** A digest of the programs of the machine. */
  toolchain: string
}

/**
 * Returns the key of an environment on its machine, 32 hexadecimal digits: equal when the same commands would
 * prepare the same.
 */
export function preparedEnvironmentKey({
  commands,
  variables,
  secrets,
  manifests,
  base_ref,
  toolchain,
}: PreparedFrom): string {
  const named = Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const files = manifests.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([commands, named, secrets, files, base_ref, toolchain]))
    .digest('hex')
    .slice(0, 32)
}

/** Returns a digest of the manifests alone. */
export const manifestsDigest = (manifests: PreparedFrom['manifests']): string =>
  createHash('sha256')
    .update(JSON.stringify(manifests.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')

/** Returns a digest of the commands and their variables, 16 hexadecimal digits. */
export const setupDigest = (commands: readonly string[], variables: string): string =>
  createHash('sha256')
    .update(JSON.stringify([commands, variables]))
    .digest('hex')
    .slice(0, 16)

/**
 * Returns a digest of the commands and their secrets: the inputs of an environment that are the same on every
 * machine.
 */
export const environmentInputsDigest = (setup_digest: string, secrets: string): string =>
  createHash('sha256').update(`${setup_digest} ${secrets}`).digest('hex').slice(0, 16)
