import { statSync } from 'node:fs'

/** What package managers of systems write to, and where programs are that nobody manages. */
const PLACES = [
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

/** Stands for the programs that sandboxes of this machine show: another text where some were installed, changed or removed. */
export function toolchainMark(): string {
  const states = PLACES.map(place => statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return JSON.stringify([process.version, process.arch, process.platform, states])
}
