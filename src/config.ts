import { readFileSync } from 'node:fs'
import { z } from 'zod'
import {
  bytes,
  bytesOrNone,
  httpUrl,
  kubernetesName,
  list,
  MAX_BYTES,
  mirrors,
  modelName,
  otlpProtocol,
  pairs,
  rate,
  sampler_names,
  secretKey,
  secretKeys,
  text,
  whole,
  yes,
} from './configuration/fields.ts'
import { unknownNames, withOrigin } from './configuration/mistakes.ts'
import { readSources, type Sources } from './configuration/sources.ts'
import { bucketLimits } from './contract/buckets.ts'
import { type ModelSettings, readModelSettings } from './contract/model-settings.ts'
import { ReasoningEffort } from './contract/reasoning-effort-schema.ts'
import { readAgentSettings } from './contract/runs/agent-settings.ts'
import { type RegisteredAgent, registerAgents } from './core/agents/registered-agents.ts'
import { log_levels } from './core/log.ts'
import { podConfigurationFaults } from './core/repositories/pod-configuration.ts'

/** JSON, or the path of a file that holds it. */
const models = text.transform((value, ctx): Record<string, ModelSettings> => {
  const content = value.trimStart().startsWith('{') ? value : readSecretFile(value)
  const found =
    content === null
      ? { mistakes: ['must be JSON, or the path of a file that can be read'] }
      : readModelSettings(content)
  if ('models' in found) return found.models
  for (const mistake of found.mistakes) ctx.addIssue(mistake)
  return z.NEVER
})
const agents = text.transform((value, ctx): ReadonlyMap<string, RegisteredAgent> => {
  const content = value.trimStart().startsWith('{') ? value : readSecretFile(value)
  const found =
    content === null
      ? { mistakes: ['must be JSON, or the path of a file that can be read'] }
      : readAgentSettings(content)
  const registered = 'agents' in found ? registerAgents(found.agents) : found
  if ('agents' in registered) return registered.agents
  for (const mistake of registered.mistakes) ctx.addIssue(mistake)
  return z.NEVER
})
/**
 * Every variable the service reads. A name ending in `_FILE` gives the path of a file that holds the value
 * instead.
 */
export const schema = z.object({
  AGENTRUN_HOST: text.default('127.0.0.1'),
  AGENTRUN_PORT: whole(0, 65_535).default(4600),
  AGENTRUN_BASE_URL: httpUrl.optional(),
  AGENTRUN_DATA_DIR: text.optional(),
  AGENTRUN_CONFIG: text
    .regex(/^\/.+\.toml$/, 'must be the absolute path of a file that ends in .toml')
    .optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' }).optional(),
  AGENTRUN_INIT_TOKEN: text
    .min(24, 'must have at least 24 characters')
    .max(500)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks')
    .optional(),
  AGENTRUN_INIT_ORG: text.max(100).default('My organization'),
  AGENTRUN_INIT_REPO_URL: text.optional(),
  AGENTRUN_INIT_WIRE_PROFILE: z.enum(['standard', 'codegen']).default('standard'),
  AGENTRUN_SAMPLE: yes.default(false),
  AGENTRUN_DEFAULT_MODEL: modelName.optional(),
  AGENTRUN_MODELS: models.optional(),
  AGENTRUN_AGENTS: agents.optional(),
  AGENTRUN_WORKER_CONCURRENCY: whole(0, 1000).default(4),
  AGENTRUN_REPO_PATHS: list.default([]),
  AGENTRUN_ALLOW_PRIVATE_GIT: yes.default(false),
  AGENTRUN_ALLOW_PRIVATE_EGRESS: yes.default(false),
  AGENTRUN_APPROVE_CI_CHANGES: yes.default(true),
  AGENTRUN_MODEL_EVALUATIONS: yes.default(true),
  AGENTRUN_REVIEW_MODEL: modelName.optional(),
  AGENTRUN_REVIEW_EFFORT: ReasoningEffort.default('low'),
  AGENTRUN_EGRESS_PROXY: z
    .url({ protocol: /^http$/, error: 'must be an http URL' })
    .transform(value => new URL(value))
    .optional(),
  AGENTRUN_EGRESS_MIRRORS: mirrors.default([]),
  AGENTRUN_EGRESS_MAX_BYTES: bytes.default(4_294_967_296),
  AGENTRUN_ALLOWED_HOSTS: list.default([]),
  AGENTRUN_OAUTH_REDIRECT_HOSTS: list.default([]),
  AGENTRUN_ORGANIZATIONS_PER_USER: whole(0, 1_000_000).default(20),
  AGENTRUN_MAX_ORGANIZATIONS: whole(0, 1_000_000).default(200),
  AGENTRUN_CORS_ORIGINS: text.default('*'),
  AGENTRUN_TRUST_PROXY: yes.default(false),
  AGENTRUN_METRICS_PORT: whole(0, 65_535).optional(),
  AGENTRUN_METRICS_HOST: text.default('127.0.0.1'),
  AGENTRUN_LOG_LEVEL: z.enum(log_levels).default('info'),
  AGENTRUN_SHUTDOWN_GRACE_SECONDS: whole(0, 86_400).default(10),
  AGENTRUN_DRAIN_SECONDS: whole(0, 3_600).default(0),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], { error: 'must be otlp or none' }).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs.optional(),
  OTEL_SERVICE_NAME: text.max(200).optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  OTEL_BSP_SCHEDULE_DELAY: whole(1, 600_000).default(5_000),
  OTEL_TRACES_SAMPLER: z.enum(sampler_names).optional(),
  OTEL_TRACES_SAMPLER_ARG: text
    .regex(/^(0?\.\d+|0|1(\.0+)?|0\.\d+)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .optional(),
  AGENTRUN_SECRET_KEY: secretKey.optional(),
  AGENTRUN_SECRET_KEY_PREVIOUS: secretKeys.default([]),
  AGENTRUN_RETENTION_DAYS: whole(1, 36_500).optional(),
  AGENTRUN_COMMIT_AUTHOR_NAME: text
    .max(100)
    .regex(/^[^<>\n]+$/, 'must not contain < > or a line break')
    .default('Agent Run'),
  AGENTRUN_COMMIT_AUTHOR_EMAIL: text
    .max(200)
    .regex(/^[^<>\s]+$/, 'must not contain < > or blanks')
    .default('agent@agentrun.invalid'),
  AGENTRUN_COMMIT_TRAILER: text
    .max(100)
    .regex(/^[A-Za-z][A-Za-z-]*$/, 'must be a trailer name, for example Agent-Run')
    .default('Agent-Run'),
  AGENTRUN_RUN_MAX_STEPS: whole(1, 100_000).default(2_000),
  AGENTRUN_RUN_MAX_TOKENS: whole(1, 1_000_000_000_000).default(200_000_000),
  AGENTRUN_RUN_MAX_ACTIVE_SECONDS: whole(1, 604_800).default(28_800),
  AGENTRUN_RUN_MAX_WALL_SECONDS: whole(1, 604_800).default(43_200),
  AGENTRUN_RUN_MAX_RECOVERIES: whole(0, 10_000).default(10),
  AGENTRUN_QUEUE_MAX_SECONDS: whole(1, 2_592_000).default(86_400),
  AGENTRUN_ANSWER_MAX_SECONDS: whole(1, 31_536_000).default(604_800),
  AGENTRUN_CI_FIRST_SECONDS: whole(0, 3_600).default(60),
  AGENTRUN_CI_POLL_SECONDS: whole(1, 3_600).default(30),
  AGENTRUN_CI_WAIT_SECONDS: whole(1, 604_800).default(3_600),
  AGENTRUN_MODEL_FIRST_BYTE_SECONDS: whole(1, 3_600).default(120),
  AGENTRUN_MODEL_IDLE_SECONDS: whole(1, 3_600).default(60),
  AGENTRUN_MODEL_TOTAL_SECONDS: whole(1, 7_200).default(900),
  AGENTRUN_COMPACT_TOKENS: whole(8_000, 10_000_000).default(200_000),
  AGENTRUN_DISK_RESERVE_BYTES: bytesOrNone.default(536_870_912),
  AGENTRUN_SANDBOX: z
    .enum(['bubblewrap', 'docker', 'podman', 'kubernetes'], {
      error: 'must be bubblewrap, docker, podman or kubernetes',
    })
    .default('bubblewrap'),
  AGENTRUN_SANDBOX_ENGINE: text
    .regex(/^(unix:\/\/)?\//, 'must be the path of a unix socket')
    .transform(value => value.replace(/^unix:\/\//, ''))
    .optional(),
  AGENTRUN_SANDBOX_IMAGE: text
    .max(500)
    .regex(/^[\w.:/@-]+$/, 'must be the name of an image')
    .optional(),
  AGENTRUN_SANDBOX_RUNTIME: text
    .max(100)
    .regex(/^[\w.-]+$/, 'must be a name that the engine knows, for example runsc')
    .optional(),
  AGENTRUN_KUBERNETES_NAMESPACE: kubernetesName.default('agentrun-sandboxes'),
  AGENTRUN_KUBERNETES_NODE: kubernetesName.optional(),
  AGENTRUN_KUBERNETES_CLAIM: kubernetesName.optional(),
  AGENTRUN_KUBERNETES_ACCOUNT: text
    .regex(/^\//, 'must be an absolute path')
    .default('/var/run/secrets/kubernetes.io/serviceaccount'),
  AGENTRUN_KUBERNETES_SECCOMP: text
    .regex(/^[\w.-]+(\/[\w.-]+)*$/, 'must be a path below the seccomp folder of the kubelet')
    .optional(),
  AGENTRUN_KUBERNETES_USER_NAMESPACES: yes.default(false),
  AGENTRUN_KUBERNETES_UNPINNED_IMAGE: yes.default(false),
  KUBERNETES_SERVICE_HOST: text.optional(),
  KUBERNETES_SERVICE_PORT: whole(1, 65_535).default(443),
  AGENTRUN_SANDBOX_MEMORY_BYTES: bytes.optional(),
  AGENTRUN_SANDBOX_ADDRESS_SPACE_BYTES: bytes.optional(),
  AGENTRUN_SANDBOX_CPUS: text
    .regex(
      /^(0\.[1-9]\d?|[1-9]\d{0,2}(\.\d{1,2})?)$/,
      'must be a number of processors from 0.1, for example 1.5',
    )
    .transform(Number)
    .optional(),
  AGENTRUN_SANDBOX_PROCESSES: whole(16, 100_000).default(512),
  AGENTRUN_SANDBOX_DISK_BYTES: bytes.default(10_737_418_240),
  AGENTRUN_SANDBOX_FILES: whole(1_000, 1_000_000_000_000).default(1_000_000),
  AGENTRUN_SANDBOX_START_SECONDS: whole(1, 600).default(10),
  AGENTRUN_TOOL_MAX_SECONDS: whole(1, 86_400).default(3_600),
  AGENTRUN_TOOL_CALL_SECONDS: whole(1, 600).default(55),
  AGENTRUN_FETCH_SECONDS: whole(1, 86_400).default(600),
  AGENTRUN_CLONE_SECONDS: whole(1, 86_400).default(600),
  AGENTRUN_SETUP_MAX_SECONDS: whole(1, 86_400).default(3_600),
  AGENTRUN_PUSH_SECONDS: whole(1, 86_400).default(300),
  AGENTRUN_PUSH_RETRY_SECONDS: whole(0, 86_400).default(3_600),
  AGENTRUN_MIRROR_MAX_BYTES: bytes.default(4_294_967_296),
  AGENTRUN_PUSH_MAX_BYTES: bytes.default(536_870_912),
  AGENTRUN_GIT_MEMORY_BYTES: whole(134_217_728, MAX_BYTES).default(2_147_483_648),
  AGENTRUN_GIT_MAX_PATHS: whole(1_000, 100_000_000).default(500_000),
  AGENTRUN_TEMPLATE_BYTES: bytesOrNone.default(4_294_967_296),
  AGENTRUN_ENVIRONMENT_BYTES: bytesOrNone.default(17_179_869_184),
  AGENTRUN_ENVIRONMENT_MAX_AGE_SECONDS: whole(1, 31_536_000).default(86_400),
  AGENTRUN_CHECKPOINT_FILE_MAX_BYTES: bytes.default(33_554_432),
  AGENTRUN_CHECKPOINT_PACK_MAX_BYTES: bytes.default(33_554_432),
  AGENTRUN_CHECKPOINT_RUN_MAX_BYTES: bytes.default(268_435_456),
  AGENTRUN_LIMIT_STANDARD: rate.default(bucketLimits.standard),
  AGENTRUN_LIMIT_AGENT_CREATION: rate.default(bucketLimits.agent_creation),
  AGENTRUN_LIMIT_USER_CREATION: rate.optional(),
  AGENTRUN_LIMIT_SETUP_COMMANDS: rate.default(bucketLimits.setup_commands),
  AGENTRUN_LIMIT_LOG_ANALYSIS: rate.default(bucketLimits.log_analysis),
  AGENTRUN_LIMIT_TOOL_EXECUTION: rate.default(bucketLimits.tool_execution),
  AGENTRUN_LIMIT_RECORDING: rate.default(bucketLimits.recording),
  AGENTRUN_LIMIT_TOKEN_TOTAL: rate.default(bucketLimits.token_total),
  AGENTRUN_LIMIT_FAILED_TOKENS: rate.default({ requests: 600, seconds: 60 }),
  AGENTRUN_LIMIT_SESSION: rate.default({ requests: 600, seconds: 30 }),
  ANTHROPIC_API_KEY: text.optional(),
  ANTHROPIC_BASE_URL: httpUrl.optional(),
  OPENAI_API_KEY: text.optional(),
  OPENAI_BASE_URL: httpUrl.optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: text.optional(),
  GOOGLE_GENERATIVE_AI_BASE_URL: httpUrl.optional(),
  OPENAI_COMPATIBLE_BASE_URL: httpUrl.optional(),
  OPENAI_COMPATIBLE_API_KEY: text.optional(),
})

export type Config = z.output<typeof schema>

export class ConfigError extends Error {
  override name = 'ConfigError'
}

type LoadedConfig = { config: Config; sources: Sources }

/**
 * Reads the configuration from variables and files (`readSources`). `locate` returns the data folder for the
 * value of `AGENTRUN_DATA_DIR`. Throws ConfigError like `readConfig`.
 */
export function loadConfig(
  env: NodeJS.ProcessEnv,
  locate: (data_dir: string | null) => string,
): LoadedConfig {
  const data_dir =
    env.AGENTRUN_DATA_DIR || (env.AGENTRUN_DATA_DIR_FILE ? readSecretFile(env.AGENTRUN_DATA_DIR_FILE) : null)
  const sources = readSources(env, locate(data_dir))
  return { config: readConfig(sources.values, sources), sources }
}

/**
 * Reads the configuration. An empty variable counts as absent. Throws ConfigError whose message lists every
 * mistake, with the file and line if the value is from a file, variables of ours that nobody knows included,
 * and never a value.
 */
export function readConfig(
  env: NodeJS.ProcessEnv,
  files: Pick<Sources, 'origins' | 'mistakes'> = { origins: new Map(), mistakes: [] },
): Config {
  const mistakes: string[] = []
  const values: Record<string, string> = {}
  const known = Object.keys(schema.shape)
  for (const name of known) {
    const value = env[name]
    const file = env[`${name}_FILE`]
    if (value && file) mistakes.push(`${name}: given both directly and by ${name}_FILE`)
    else if (value) values[name] = value
    else if (file) {
      const content = readSecretFile(file)
      if (content === null) mistakes.push(`${name}_FILE: the file cannot be read`)
      else values[name] = content
    }
  }
  const parsed = schema.safeParse(values)
  // Who names an image believes that runs are in containers.
  if (parsed.success && parsed.data.AGENTRUN_SANDBOX === 'bubblewrap')
    for (const name of ['AGENTRUN_SANDBOX_ENGINE', 'AGENTRUN_SANDBOX_IMAGE', 'AGENTRUN_SANDBOX_RUNTIME'])
      if (name in values) mistakes.push(`${name}: is for containers, and AGENTRUN_SANDBOX is bubblewrap`)
  if (!parsed.success)
    for (const issue of parsed.error.issues) mistakes.push(`${issue.path.join('.')}: ${issue.message}`)
  const models = (parsed.success && parsed.data.AGENTRUN_MODELS) || {}
  mistakes.push(
    ...unknownNames({
      env,
      origins: files.origins,
      known,
      model_keys: parsed.success ? modelKeys(models) : null,
    }),
  )
  mistakes.push(...readModelKeys(models, env))
  if (parsed.success)
    mistakes.push(
      ...(parsed.data.AGENTRUN_SANDBOX === 'kubernetes' ? podConfigurationFaults(parsed.data) : []),
    )
  const all = [...files.mistakes, ...mistakes.map(text => withOrigin(text, files.origins))]
  if (all.length > 0 || !parsed.success)
    throw new ConfigError(
      `the configuration has ${all.length} mistake${all.length === 1 ? '' : 's'}:\n${all.map(line => `  ${line}`).join('\n')}`,
    )
  return parsed.data
}

const modelKeys = (models: Record<string, ModelSettings>) =>
  Object.values(models).flatMap(({ api_key_env: name }) => name ?? [])

/** Adds the keys of the models; returns the mistakes. */
function readModelKeys(models: Record<string, ModelSettings>, env: NodeJS.ProcessEnv): string[] {
  const mistakes: string[] = []
  for (const [id, settings] of Object.entries(models)) {
    const name = settings.api_key_env
    if (name === undefined) continue
    const file = env[`${name}_FILE`]
    const key = env[name] || (file ? readSecretFile(file) : null)
    if (key) settings.api_key = key
    else mistakes.push(`AGENTRUN_MODELS: ${id}, api_key_env: the variable ${name} is not set`)
  }
  return mistakes
}

function readSecretFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return null
  }
}
