import { configPath, readConfigFile } from './config-file.ts'
import { UsageError } from './exit.ts'

const default_url = 'http://127.0.0.1:4600'

type Source = 'flag' | 'environment' | 'config file' | 'default'
export type Settings = {
  base_url: string
  url_from: Source
  token: string | null
  token_from: Source | null
  organization_id: number | null
  config_path: string
  /** The problem of the config file; null when it is usable or does not exist. */
  config_problem: string | null
}

type Flags = { url?: string | undefined; token?: string | undefined; org?: string | undefined }

/**
 * Reads flags, then the environment (AGENTRUN_URL, AGENTRUN_TOKEN, AGENTRUN_ORG), then what `login` stored.
 * Throws UsageError.
 */
export function readSettings(flags: Flags, env: Record<string, string | undefined>): Settings {
  const config_path = configPath(env)
  const { file, problem } = readConfigFile(config_path)
  const url = first(
    ['flag', flags.url],
    ['environment', env.AGENTRUN_URL],
    ['config file', file.default_url],
    ['default', default_url],
  )
  const base_url = address(url?.value ?? default_url)
  const stored = Object.hasOwn(file.services, base_url) ? file.services[base_url] : undefined
  const token = first(
    ['flag', flags.token],
    ['environment', env.AGENTRUN_TOKEN],
    ['config file', stored?.token],
  )
  const org = first(
    ['flag', flags.org],
    ['environment', env.AGENTRUN_ORG],
    ['config file', stored?.organization_id?.toString()],
  )
  if (org && !/^\d{1,15}$/.test(String(org.value)))
    throw new UsageError('the organization must be its id, a whole number')
  return {
    base_url,
    url_from: url?.from ?? 'default',
    token: token?.value ?? null,
    token_from: token?.from ?? null,
    organization_id: org ? Number(org.value) : null,
    config_path,
    config_problem: problem,
  }
}

function first<T>(...choices: [Source, T | null | undefined][]): { from: Source; value: T } | null {
  for (const [from, value] of choices)
    if (value !== undefined && value !== null && value !== '') return { from, value }
  return null
}

/** Normalizes an address. */
function address(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (
    !url ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username ||
    url.password ||
    url.search ||
    url.hash
  )
    throw new UsageError(
      `the address of the service must be like ${default_url}, not ${JSON.stringify(text)}`,
    )
  return url.href.replace(/(?<!\/)\/+$/, '')
}
