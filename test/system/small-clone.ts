import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { temporaryFolder } from '../temporary-folder.ts'

export const root = join(import.meta.dirname, '../..')
export const boot: {
  commands: Record<
    string,
    { node?: string[]; tools: string[]; strict?: boolean; web?: boolean; direct?: boolean }
  >
  innerEnvironment: (env: Record<string, string>) => Record<string, string>
  packagesStamp: (folder: string) => string
  webStamp: (folder: string) => string
} = createRequire(import.meta.url)(join(root, 'boot.cjs'))

/**
 * A clone in small: the launcher, a manifest with one package in the clone itself (no network), and a script
 * for `check`.
 */
export function smallClone(check_script: string): { path: string } & Disposable {
  const folder = temporaryFolder()
  for (const part of ['dep', 'scripts', 'web/src', 'web/dist'])
    mkdirSync(join(folder.path, part), { recursive: true })
  for (const file of ['boot.cjs', 'supervisor.sh']) copyFileSync(join(root, file), join(folder.path, file))
  const devDependencies = { dep: 'file:dep' }
  writeFileSync(
    join(folder.path, 'package.json'),
    JSON.stringify({ name: 'small', version: '1.0.0', type: 'module', devDependencies }),
  )
  writeFileSync(join(folder.path, 'dep/package.json'), JSON.stringify({ name: 'dep', version: '1.0.0' }))
  const packages = {
    '': { name: 'small', version: '1.0.0', devDependencies },
    dep: { version: '1.0.0', dev: true },
    'node_modules/dep': { resolved: 'dep', link: true },
  }
  writeFileSync(
    join(folder.path, 'package-lock.json'),
    JSON.stringify({ name: 'small', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
  )
  writeFileSync(join(folder.path, '.npmrc'), 'ignore-scripts=true\naudit=false\nfund=false\n')
  writeFileSync(join(folder.path, 'scripts/check.ts'), check_script)
  return folder
}

export function stampPackages(clone: string): void {
  mkdirSync(join(clone, 'node_modules'))
  writeFileSync(join(clone, 'node_modules/.boot-stamp'), boot.packagesStamp(clone))
}

export function launch(clone: string, args: string[], env: Record<string, string> = {}) {
  return spawn(process.execPath, [join(clone, 'boot.cjs'), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The service of a clone with what restarts it, as `npm start` starts them, or with one role. */
export function launchService(clone: string, env: Record<string, string> = {}, roles: string[] = []) {
  return spawn('/bin/bash', [join(clone, 'supervisor.sh'), ...roles], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
