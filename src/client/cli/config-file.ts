import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** Who is signed in where: a token belongs to its service and is never sent to another. */
export type ConfigFile = { default_url: string | null; services: Record<string, { token: string; organization_id: number | null }> }

type Env = Record<string, string | undefined>

/** `$XDG_CONFIG_HOME/agentrun/config.json`, by default below `~/.config`. */
export function configPath(env: Env): string {
  const base = env.XDG_CONFIG_HOME
  return join(base && isAbsolute(base) ? base : join(env.HOME || homedir(), '.config'), 'agentrun/config.json')
}

/** What the file holds; empty when there is none. `problem` when it is there and cannot be used. */
export function readConfigFile(path: string): { file: ConfigFile; problem: string | null } {
  const empty: ConfigFile = { default_url: null, services: {} }
  try {
    return { file: checked(JSON.parse(readFileSync(path, 'utf8'))), problem: null }
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return { file: empty, problem: null }
    return { file: empty, problem: error instanceof SyntaxError ? 'is not the JSON that login writes' : 'cannot be read' }
  }
}

/** Takes what has the right shape; a SyntaxError when it is something else altogether. */
function checked(content: unknown): ConfigFile {
  const { default_url, services } = Object(content) as { default_url?: unknown; services?: unknown }
  if (typeof services !== 'object' || services === null) throw new SyntaxError('no services')
  const known = Object.entries(services as Record<string, { token?: unknown; organization_id?: unknown } | null>).flatMap(([url, held]) =>
    typeof held?.token === 'string'
      ? [
          [
            url,
            { token: held.token, organization_id: Number.isInteger(held.organization_id) ? Number(held.organization_id) : null },
          ] as const,
        ]
      : [],
  )
  return { default_url: typeof default_url === 'string' ? default_url : null, services: Object.fromEntries(known) }
}

/** Writes the file for nobody but its owner, all of it or nothing. */
export function writeConfigFile(path: string, file: ConfigFile): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(draft, 0o600)
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}
