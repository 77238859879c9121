import type { Config } from '../config.ts'
import type { KnownValue } from '../core/secrets/known-value.ts'

/** A password of a database or a proxy may be an ordinary word: such a password is not redacted. */
const SHORTEST_PASSWORD = 16

/**
 * Returns the credentials of this process itself. No sandbox is given any of it; should one show itself
 * nevertheless, no trace contains it.
 */
export function ownCredentials({
  config,
  database_url,
  secret_key,
}: {
  config: Config
  database_url: string
  secret_key: Buffer
}): KnownValue[] {
  const names = [
    ...([
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'OPENAI_COMPATIBLE_API_KEY',
    ] as const),
    'AGENTRUN_INIT_TOKEN' as const,
  ]
  const headers = { ...config.OTEL_EXPORTER_OTLP_HEADERS, ...config.OTEL_EXPORTER_OTLP_TRACES_HEADERS }
  const passwords = [
    { name: 'DATABASE_URL', value: passwordOf(database_url) },
    { name: 'AGENTRUN_EGRESS_PROXY', value: passwordOf(config.AGENTRUN_EGRESS_PROXY?.href ?? '') },
  ]
  return [
    ...names.flatMap(name => (config[name] === undefined ? [] : [{ name, value: config[name] }])),
    ...Object.values(config.AGENTRUN_MODELS ?? {}).flatMap(({ api_key_env: name = '', api_key: value }) =>
      value ? [{ name, value }] : [],
    ),
    ...Object.values(headers).map(value => ({ name: 'OTEL_EXPORTER_OTLP_HEADERS', value })),
    ...[secret_key.toString('hex'), secret_key.toString('base64')].map(value => ({
      name: 'AGENTRUN_SECRET_KEY',
      value,
    })),
    ...passwords.filter(({ value }) => value.length >= SHORTEST_PASSWORD),
  ]
}

function passwordOf(url: string): string {
  try {
    return decodeURIComponent(new URL(url).password)
  } catch {
    return ''
  }
}
