import { isAbsolute, relative } from 'node:path'
import { SandboxError } from '../port.ts'

/** A volume that worker and sandboxes share. `root`: where the worker has mounted it. */
export type Claim = { name: string; root: string }

/**
 * Returns the claim that contains a path of the worker, and the path on its volume. Throws SandboxError for a
 * path outside all claims, which cannot be mounted into a pod.
 */
export function findOnClaims(claims: Claim[], path: string): { claim: Claim; sub_path: string } {
  for (const claim of claims) {
    const sub_path = relative(claim.root, path)
    if (sub_path !== '' && sub_path !== '..' && !sub_path.startsWith('../') && !isAbsolute(sub_path))
      return { claim, sub_path }
  }
  const volumes = claims.map(({ name, root }) => `${name} (${root})`).join(', ')
  throw new SandboxError(`${path} is on none of the volumes that pods can be shown: ${volumes}`)
}
