import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const clone = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(clone, path), 'utf8')

type Manifest = {
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}
type LockedPackage = { dev?: boolean; devOptional?: boolean; bin?: unknown }

/**
 * Builds the package of the service: JavaScript, because Node reads no TypeScript in node_modules, with the
 * built web page, the launcher and the supervisor. Throws when the web page is not built. Install it with
 * `npm install <folder>`.
 */
export function buildServer(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  for (const path of serviceFiles()) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    if (path.endsWith('.ts')) writeFileSync(target.replace(/\.ts$/, '.js'), javascript(read(path)))
    else copyFileSync(join(clone, path), target)
  }
  cpSync(join(clone, 'web/dist'), join(folder, 'web/dist'), {
    recursive: true,
    filter: path => !path.endsWith('.boot-stamp'),
  })
  mkdirSync(join(folder, 'runtime'))
  for (const path of [
    'boot.cjs',
    'supervisor.sh',
    'LICENSE',
    'runtime/package.json',
    'runtime/package-lock.json',
    'runtime/.npmrc',
  ])
    copyFileSync(join(clone, path), join(folder, path))
  copyFileSync(join(clone, 'deploy/systemd/agentrun.service'), join(folder, 'agentrun.service'))
  for (const name of ['agentrun-server', 'README.md'])
    copyFileSync(join(clone, 'scripts/server-package', name), join(folder, name))
  chmodSync(join(folder, 'agentrun-server'), 0o755)
  writeManifests(folder)
}

/** All of src but its tests and the clients, which have a package of their own. */
function serviceFiles(): string[] {
  return readdirSync(join(clone, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(clone.length))
    .filter(path => !path.startsWith('src/client/') && !path.endsWith('.test.ts'))
}

/** Takes the types out, line by line, and names the other modules as they are in the package. */
function javascript(text: string): string {
  return stripTypeScriptTypes(text).replace(
    /(\bfrom |\bimport\(|^import |\bnew URL\()'(\.[^'\n]*)\.ts'/gm,
    "$1'$2.js'",
  )
}

/**
 * The versions that were tested, and only those (npm-shrinkwrap.json), by npm's rules for a published lock
 * file.
 */
function writeManifests(folder: string): void {
  const { version, description, license, dependencies, optionalDependencies }: Manifest = JSON.parse(
    read('package.json'),
  )
  const manifest = {
    name: 'agentrun-server',
    version,
    description,
    license,
    type: 'module',
    bin: { 'agentrun-server': 'agentrun-server' },
    engines: { node: '>=18' },
    os: ['linux'],
    dependencies,
    optionalDependencies,
  }
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(read('package-lock.json'))
  const packages = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
  )
  const { type: _type, description: _description, ...root } = manifest
  const shrinkwrap = {
    ...lock,
    name: manifest.name,
    version,
    packages: { '': root, ...Object.fromEntries(packages) },
  }
  for (const [name, content] of Object.entries({
    'package.json': manifest,
    'npm-shrinkwrap.json': shrinkwrap,
  }))
    writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`)
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(clone, 'dist/server'))
  buildServer(folder)
  process.stdout.write(`${folder}: npm install ${folder}\n`)
}
