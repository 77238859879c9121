import { statSync } from 'node:fs'

/** Databases of system package managers, and folders of unmanaged programs. */
const PROGRAM_FOLDERS = [
  '/etc/os-release',
  '/var/lib/dpkg/status',
  '/var/lib/rpm',
  '/usr/lib/sysimage/rpm',
  '/lib/apk/db/installed',
  '/var/lib/pacman/local',
  '/usr/bin',
  '/usr/lib',
  '/usr/local/bin',
  '/usr/local/lib',
]

/**
 * Returns a fingerprint of the programs that sandboxes of this machine see: it changes when one is installed,
 * changed or removed.
 */
export function toolchainMark(): string {
  const states = PROGRAM_FOLDERS.map(path => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return JSON.stringify([process.version, process.arch, process.platform, states])
}
