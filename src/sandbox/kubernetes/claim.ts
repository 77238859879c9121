import { posix, relative } from 'node:path'
import { SandboxError } from '../port.ts'

/** The volume that worker and sandboxes share. `root`: where the worker has the whole of it. */
export type Claim = { name: string; root: string }

/** Where a path of the worker is on the claim. Throws SandboxError for one that is not on it, which no pod could be shown. */
export function subPathOf({ name, root }: Claim, path: string): string {
  const inside = relative(root, path)
  if (inside === '' || inside === '..' || inside.startsWith('../') || posix.isAbsolute(inside))
    throw new SandboxError(`${path} is not on the volume of the claim ${name}, which is mounted at ${root}: a pod cannot be shown it`)
  return inside
}
