import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

/** The record of Debian's package manager. */
const STATUS = '/var/lib/dpkg/status'
/** A file that a package installs as a setting, and the MD5 of its content. */
const CONFFILE = /^ (\/\S+) ([0-9a-f]{32})$/gm

/**
 * Programs that do not start, or do not work, without their settings in /etc, which may contain what the
 * operator wrote into them.
 */
const FOLDERS = ['chromium.d', 'ImageMagick-6', 'ImageMagick-7', 'mono', 'R', 'texmf'].map(
  name => `/etc/${name}/`,
)

type InstalledFile = { path: string; md5: string }
let known: { status: string; changed_ms: number; files: InstalledFile[] } | null = null

/**
 * Returns those settings of programs whose content is that of their package, so that nothing in them is
 * private to this machine. A file that the operator has changed or added is excluded. None on systems without
 * dpkg.
 */
export function packageSettings(
  folders: readonly string[] = FOLDERS,
  status = STATUS,
): { host: string; inside: string }[] {
  return installedFiles(status)
    .filter(({ path }) => folders.some(folder => path.startsWith(folder)))
    .filter(isUnchanged)
    .map(({ path }) => ({ host: path, inside: path }))
}

/** Read again when a package was installed or removed. */
function installedFiles(status: string): InstalledFile[] {
  const changed_ms = statSync(status, { throwIfNoEntry: false })?.mtimeMs
  if (changed_ms === undefined) return []
  if (known?.status === status && known.changed_ms === changed_ms) return known.files
  const files = [...readFileSync(status, 'utf8').matchAll(CONFFILE)].map(([, path = '', md5 = '']) => ({
    path,
    md5,
  }))
  known = { status, changed_ms, files }
  return files
}

function isUnchanged({ path, md5 }: InstalledFile): boolean {
  try {
    return hash('md5', readFileSync(path)) === md5
  } catch {
    // It was removed, or only root may read it: then nothing inside could read it either.
    return false
  }
}
