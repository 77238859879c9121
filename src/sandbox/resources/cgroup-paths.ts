import { join, relative } from 'node:path'

/** The folders in the cgroup file systems for the group of a process, by controller. */
export type OwnGroups = {
  /**
   * Where version 2 is mounted and the process is listed there; its controllers are in `cgroup.controllers`.
   */
  v2: string | null
  /** Version 1: one folder for each mounted controller. */
  v1: Map<string, string>
}

/**
 * Returns the groups of a process from /proc/PID/cgroup and /proc/PID/mountinfo. In a container the mounted
 * part may begin below the group of the process or beside it: then it is not accessible, and omitted.
 */
export function ownGroups(cgroup: string, mountinfo: string): OwnGroups {
  const mounts = mountinfo.split('\n').flatMap(line => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root = '', point = ''] = before.split(' ')
    const [type = '', , options = ''] = after.split(' ')
    if (type !== 'cgroup' && type !== 'cgroup2') return []
    return [{ type, root: plainPath(root), point: plainPath(point), options: options.split(',') }]
  })
  const found: OwnGroups = { v2: null, v1: new Map() }
  for (const line of cgroup.split('\n')) {
    const [, id, names = '', path = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    if (id === undefined) continue
    if (names === '')
      found.v2 ??= pathInMount(
        mounts.find(mount => mount.type === 'cgroup2'),
        path,
      )
    else
      for (const name of names.split(',')) {
        const folder = pathInMount(
          mounts.find(mount => mount.type === 'cgroup' && mount.options.includes(name)),
          path,
        )
        if (folder !== null) found.v1.set(name, folder)
      }
  }
  return found
}

function pathInMount(mount: { root: string; point: string } | undefined, path: string): string | null {
  if (!mount) return null
  const below = relative(mount.root, path)
  return below === '..' || below.startsWith('..') ? null : join(mount.point, below)
}

/** Blanks and similar characters are escaped as \040 in mountinfo. */
const plainPath = (text: string) =>
  text.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)))
