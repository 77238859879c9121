import { isAbsolute, relative } from 'node:path'
import { SandboxError } from '../port.ts'

/** A volume that worker and sandboxes share. `root`: where the worker has the whole of it. */
export type Claim = { name: string; root: string }

/**
 * The claim that has a path of the worker, and where on its volume the path is. Throws SandboxError for a path that is on none of them, which
 * no pod can be shown.
 */
export function findOnClaims(claims: Claim[], path: string): { claim: Claim; sub_path: string } {
  for (const claim of claims) {
    const sub_path = relative(claim.root, path)
    if (sub_path !== '' && sub_path !== '..' && !sub_path.startsWith('../') && !isAbsolute(sub_path)) return { claim, sub_path }
  }
  const volumes = claims.map(({ name, root }) => `${name} (${root})`).join(', ')
  throw new SandboxError(`${path} is on none of the volumes that pods can be shown: ${volumes}`)
}
