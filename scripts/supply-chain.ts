import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const clone = fileURLToPath(new URL('../', import.meta.url))
/** Most malicious releases are found and removed within days. */
export const COOLDOWN_DAYS = 7
const SBOM_FILE = 'dist/sbom.cdx.json'
const NPM_TIMEOUT_MS = 120_000
const LOOKUPS_AT_ONCE = 4

export type Outcome = { state: 'ok' | 'failed' | 'skipped'; text: string }
export type Lock = { packages: Record<string, { version?: string; name?: string }> }
type ProgramEnd = { code: number; out: string }

function run(program: string, args: string[]): Promise<ProgramEnd> {
  return new Promise(resolve => {
    execFile(
      program,
      args,
      { cwd: clone, timeout: NPM_TIMEOUT_MS, maxBuffer: 256 * 1024 ** 2 },
      (error, out) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
        resolve({ code, out })
      },
    )
  })
}

const npm = (...args: string[]): Promise<ProgramEnd> => {
  const path = process.env.npm_execpath
  return path?.endsWith('npm-cli.js') ? run(process.execPath, [path, ...args]) : run('npm', args)
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return Object(JSON.parse(text))
  } catch {
    return null
  }
}

/** Reads the result of `npm audit --json`. Fails for vulnerabilities that are high or critical. */
export function advisoryOutcome(out: string): Outcome {
  const report = parsed(out)
  const counts = (report?.metadata as { vulnerabilities?: Record<string, number> } | undefined)
    ?.vulnerabilities
  if (counts === undefined) {
    const why = [404, 405, 501].includes(Number(report?.statusCode))
      ? `the registry has no advisory endpoint (HTTP ${report?.statusCode})`
      : 'the registry cannot be reached'
    return { state: 'skipped', text: `advisories: not checked, ${why}` }
  }
  const severe = (counts.high ?? 0) + (counts.critical ?? 0)
  const names = Object.values(Object(report?.vulnerabilities)).flatMap(one => {
    const { name, severity } = one as { name: string; severity: string }
    return ['high', 'critical'].includes(severity) ? [name] : []
  })
  if (severe > 0)
    return {
      state: 'failed',
      text: `advisories: ${severe} high or critical: ${names.join(', ')}; run npm audit`,
    }
  return { state: 'ok', text: `advisories: none that is high or critical, ${counts.total ?? 0} in all` }
}

/** Returns the packages that `after` locks at a version that `before` does not have. */
export function addedVersions(before: Lock, after: Lock): { name: string; version: string }[] {
  const versions = ({ packages }: Lock) =>
    Object.entries(packages).flatMap(([path, { name, version }]) =>
      path === '' || version === undefined
        ? []
        : [`${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`],
    )
  const known = new Set(versions(before))
  return [...new Set(versions(after))]
    .filter(one => !known.has(one))
    .map(one => ({ name: one.slice(0, one.lastIndexOf('@')), version: one.slice(one.lastIndexOf('@') + 1) }))
}

/**
 * Whether a version was published less than COOLDOWN_DAYS before `now`; null when the registry does not state
 * when.
 */
export function isTooYoung(
  times: Record<string, unknown> | null,
  version: string,
  now: number,
): boolean | null {
  const published = Date.parse(String(times?.[version]))
  return Number.isNaN(published) ? null : now - published < COOLDOWN_DAYS * 86_400_000
}

/**
 * The lock of the commit that this change is based on: where it left origin/main, or the previous commit.
 * Null in a shallow clone.
 */
async function baseLock(): Promise<Lock | null> {
  const head = (await run('git', ['rev-parse', 'HEAD'])).out.trim()
  const base = (await run('git', ['merge-base', 'HEAD', 'origin/main'])).out.trim()
  const { code, out } = await run('git', [
    'show',
    `${base === '' || base === head ? 'HEAD~1' : base}:package-lock.json`,
  ])
  return code === 0 ? (parsed(out) as Lock | null) : null
}

async function checkCooldown(): Promise<Outcome> {
  const before = await baseLock()
  if (before === null)
    return { state: 'skipped', text: 'cooldown: not checked, the base commit is not in this clone' }
  const added = addedVersions(before, JSON.parse(readFileSync(join(clone, 'package-lock.json'), 'utf8')))
  const young: string[] = []
  let unknown = 0
  for (let at = 0; at < added.length; at += LOOKUPS_AT_ONCE)
    await Promise.all(
      added.slice(at, at + LOOKUPS_AT_ONCE).map(async ({ name, version }) => {
        const too_young = isTooYoung(
          parsed((await npm('view', name, 'time', '--json')).out),
          version,
          Date.now(),
        )
        if (too_young) young.push(`${name}@${version}`)
        if (too_young === null) unknown++
      }),
    )
  const rest =
    unknown === 0 ? '' : `; ${unknown} not checked, the registry does not state when they were published`
  if (young.length > 0)
    return {
      state: 'failed',
      text: `cooldown: younger than ${COOLDOWN_DAYS} days: ${young.join(', ')}${rest}`,
    }
  return {
    state: unknown > 0 ? 'skipped' : 'ok',
    text: `cooldown: ${added.length} new versions, none younger than ${COOLDOWN_DAYS} days${rest}`,
  }
}

async function writeSbom(): Promise<Outcome> {
  const { code, out } = await npm('sbom', '--sbom-format=cyclonedx', '--omit=dev')
  if (code !== 0) return { state: 'failed', text: 'sbom: npm sbom failed; run npm ci, then try again' }
  const file = join(clone, SBOM_FILE)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, out)
  return {
    state: 'ok',
    text: `sbom: ${SBOM_FILE}, ${(parsed(out)?.components as unknown[] | undefined)?.length ?? 0} packages`,
  }
}

/**
 * Checks advisories and the age of new versions, and writes the SBOM. What cannot be checked offline is
 * reported and does not fail.
 */
if (import.meta.main) {
  const outcomes = [
    advisoryOutcome((await npm('audit', '--json', '--omit=dev')).out),
    await checkCooldown(),
    await writeSbom(),
  ]
  for (const { state, text } of outcomes) process.stdout.write(`${state.padEnd(7)} ${text}\n`)
  process.exitCode = outcomes.some(({ state }) => state === 'failed') ? 1 : 0
}
