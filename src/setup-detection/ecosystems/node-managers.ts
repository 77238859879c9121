import type { Toolchain } from '../proposal.ts'
import { asText, asValues, type Project, valueAt, yamlOf } from '../tree.ts'

/**
 * How the package manager of a project is installed, if missing, and called. `lock`: its lockfile, if the
 * repository has one.
 */
type Manager = {
  name: 'npm' | 'pnpm' | 'yarn'
  get: string | null
  run: string
  install: string
  again: string | null
  lock: string | null
  why: string
}

const LOCKS = [
  'pnpm-lock.yaml',
  'yarn.lock',
  'npm-shrinkwrap.json',
  'package-lock.json',
  'bun.lock',
  'bun.lockb',
] as const
const VERSION = /^(npm|pnpm|yarn)@(\d+\.\d+\.\d+(?:-[\w.]{1,40})?)/

/**
 * Managers come from the registry in the version that the repository names and are kept in the home folder,
 * where the agent, who has no network, finds them by their usual names. If the machine has another version
 * under that name, the installed one is called by its path.
 */
export function managerOf(project: Project, toolchain: Toolchain): Manager {
  const lock = project.first(...LOCKS)
  const wanted = wantedManager(project)
  const of_lock =
    lock === null ? null : lock.startsWith('pnpm') ? 'pnpm' : lock === 'yarn.lock' ? 'yarn' : 'npm'
  const own_lock =
    wanted === null ? null : project.first(...LOCKS.filter(name => lockOf(wanted.name).includes(name)))
  const name =
    wanted !== null && (own_lock !== null || lock === null)
      ? wanted.name
      : (of_lock ?? (project.has('pnpm-workspace.yaml') ? 'pnpm' : 'npm'))
  const version = wanted?.name === name ? wanted.version : null
  const mine = wanted?.name === name ? own_lock : lock
  const why = [
    wanted?.name === name ? `${wanted.from} requires ${name}@${version}` : null,
    mine && `${mine} is there`,
  ]
    .filter(Boolean)
    .join(', ')
  const run = toolchain.has(name) ? `~/.local/bin/${name}` : name
  if (name === 'pnpm')
    return pnpm(project, { run, version, lock: mine, why: why || 'pnpm-workspace.yaml is there' })
  if (name === 'yarn') return yarn(project, { run, version, lock: mine, why })
  const locked = mine === 'package-lock.json' || mine === 'npm-shrinkwrap.json'
  const install = locked ? 'npm ci' : 'npm install --no-audit --no-fund'
  return {
    name: 'npm',
    get: null,
    run: 'npm',
    install,
    again: 'npm ls --depth=0',
    lock: locked ? mine : null,
    why: locked ? `${mine} is there` : 'there is no lockfile',
  }
}

const lockOf = (name: string): string[] =>
  name === 'pnpm'
    ? ['pnpm-lock.yaml']
    : name === 'yarn'
      ? ['yarn.lock']
      : ['npm-shrinkwrap.json', 'package-lock.json']

function wantedManager(
  project: Project,
): { name: 'npm' | 'pnpm' | 'yarn'; version: string; from: string } | null {
  const manifest = project.json('package.json')
  const [, name, version] = VERSION.exec(asText(valueAt(manifest, 'packageManager')) ?? '') ?? []
  if (name === undefined || version === undefined) return null
  return { name: name as 'npm' | 'pnpm' | 'yarn', version, from: 'packageManager' }
}

type KnownManager = { run: string; version: string | null; lock: string | null; why: string }

const getting = (spec: string) => `npm install --global ${spec}`

function pnpm(project: Project, { run, version, lock, why }: KnownManager): Manager {
  const format = Number.parseFloat(
    /^lockfileVersion:\s*['"]?(\d+(?:\.\d+)?)/m.exec(project.text('pnpm-lock.yaml') ?? '')?.[1] ?? '9',
  )
  const get = getting(`pnpm@${version ?? (format >= 9 ? '10' : format >= 6 ? '8' : '7')}`)
  const install = lock === null ? `${run} install --no-frozen-lockfile` : `${run} install --frozen-lockfile`
  return { name: 'pnpm', get, run, install, again: lock === null ? null : `${install} --offline`, lock, why }
}

function yarn(project: Project, { run, version, lock, why }: KnownManager): Manager {
  const settings = yamlOf(project.text('.yarnrc.yml') ?? '')
  const path = asText(settings?.yarnPath)
  const kept = path !== null && /^[\w./-]+$/.test(path) && project.has(path) ? path : null
  const text = project.text('yarn.lock') ?? ''
  const berry =
    asValues(settings) !== null || /^__metadata:/m.test(text) || Number.parseInt(version ?? '1', 10) >= 2
  if (!berry) {
    const install = `${run} install --non-interactive${lock === null ? '' : ' --frozen-lockfile'}`
    return {
      name: 'yarn',
      get: getting(`yarn@${version ?? '1.22.22'}`),
      run,
      install,
      again: lock === null ? null : `${run} check --integrity`,
      lock,
      why,
    }
  }
  const format = Number.parseInt(/^__metadata:[ \t]*\n[ \t]+version:[ \t]*(\d+)/m.exec(text)?.[1] ?? '8', 10)
  const release = version ?? (format >= 8 ? '4' : '3')
  const called = kept !== null ? `node ${kept}` : run
  const install = `${called} install${lock === null ? '' : ' --immutable'}`
  return {
    name: 'yarn',
    // Before version 4 the registry has no self-contained package for it.
    get: kept !== null ? null : getting(`@yarnpkg/cli-dist@${release}`),
    run: called,
    install,
    again: lock === null ? null : `${called} install --immutable --mode=skip-build`,
    lock,
    why: kept === null ? why : `.yarnrc.yml names ${kept}`,
  }
}
