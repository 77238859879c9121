import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { storedJson } from '../../core/json/stored-json.ts'

/** The stored tokens by service: a token is never sent to another service. */
type ConfigFile = {
  default_url: string | null
  services: Record<string, { token: string; organization_id: number | null }>
}

type Env = Record<string, string | undefined>

/** Returns `$XDG_CONFIG_HOME/agentrun/config.json`, by default below `~/.config`. */
export function configPath(env: Env): string {
  const base = env.XDG_CONFIG_HOME
  return join(
    base && isAbsolute(base) ? base : join(env.HOME || homedir(), '.config'),
    'agentrun/config.json',
  )
}

/** Reads the file; it is empty when it does not exist. `problem` when it exists and cannot be used. */
export function readConfigFile(path: string): { file: ConfigFile; problem: string | null } {
  const empty: ConfigFile = { default_url: null, services: {} }
  try {
    return { file: checked(storedJson<unknown>(readFileSync(path, 'utf8'))), problem: null }
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return { file: empty, problem: null }
    return {
      file: empty,
      problem: error instanceof SyntaxError ? 'is not the JSON that login writes' : 'cannot be read',
    }
  }
}

/** Keeps entries of the right shape. Throws SyntaxError when it is not a config file. */
function checked(content: unknown): ConfigFile {
  const { default_url, services } = Object(content) as { default_url?: unknown; services?: unknown }
  if (typeof services !== 'object' || services === null) throw new SyntaxError('no services')
  const known = Object.entries(
    services as Record<string, { token?: unknown; organization_id?: unknown } | null>,
  ).flatMap(([url, entry]) =>
    typeof entry?.token === 'string'
      ? [
          [
            url,
            {
              token: entry.token,
              organization_id: Number.isInteger(entry.organization_id) ? Number(entry.organization_id) : null,
            },
          ] as const,
        ]
      : [],
  )
  return {
    default_url: typeof default_url === 'string' ? default_url : null,
    services: Object.fromEntries(known),
  }
}

/** Writes the file atomically, readable by its owner only. */
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
