import { createHash } from 'node:crypto'
import { type Mirror, mirrorVariables } from './network/package-mirrors.ts'
import { SHORTEST_SECRET } from './secrets/known-value.ts'
import { isMcpCredential } from './secrets/mcp-credentials.ts'
import { isModelKey } from './secrets/model-keys.ts'
import { isSetting } from './secrets/program-settings.ts'
import { isForGitAlone } from './secrets/repository-credentials.ts'
import type { OpenSecret } from './secrets/run-secrets.ts'
import type { Sealer } from './secrets/sealing.ts'

/**
 * All environment variables of a sandbox come from this file: the base list, the secrets of a run and the
 * variables of its proxy.
 */
const base_environment: Record<string, string> = {
  // The folder that the agent can write is last, so that it cannot shadow a program of the system.
  PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin:/home/agent/.local/bin',
  HOME: '/home/agent',
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  PAGER: 'cat',
  // Global npm packages are installed where the user may write; pip does so without a setting.
  npm_config_prefix: '/home/agent/.local',
  GIT_CONFIG_SYSTEM: '/etc/gitconfig',
  GIT_TERMINAL_PROMPT: '0',
  // The search for leaks of the sanitizers of C compilers needs ptrace, which the filter of system calls
  // refuses: it would fail each program.
  LSAN_OPTIONS: 'detect_leaks=0',
}

/** The folder of Node inside a sandbox. */
export const NODE_FOLDER = '/opt/node'

/**
 * Returns `base_environment` for a sandbox that sees the programs of the host. `has_node_headers`: their Node
 * can compile addons.
 */
export const hostEnvironment = (has_node_headers: boolean): Record<string, string> =>
  has_node_headers
    ? { ...base_environment, npm_package_config_node_gyp_nodedir: NODE_FOLDER }
    : base_environment

/**
 * Names that the sandbox, its shell or its git interpret: a secret with such a name would change what
 * commands do.
 */
const INTERPRETED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|TERM|PAGER|TMPDIR|PWD|OLDPWD|SHLVL|IFS|ENV|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|CDPATH|POSIXLY_CORRECT|P?PID|E?UID|(?:LD|LC|DYLD|BASH|PERL5|PYTHON)_?[A-Z0-9_]*|(?:HTTPS?|FTP|ALL|NO)_PROXY|_)$/
const GIT = /^GIT_(?!.*_?(?:TOKEN|PASSWORD|KEY|SECRET|PAT|USER|USERNAME)$)/

export const mayBeVariable = (name: string): boolean =>
  !INTERPRETED.test(name) && !GIT.test(name) && !isModelKey(name) && !isMcpCredential(name)

/**
 * The variables of checks and setup commands in addition, unless somebody has set them otherwise. Not of
 * agents: with it yarn refuses a new dependency, jest writes no snapshot, and pnpm changes no lockfile.
 */
export const UNATTENDED = { CI: 'true' }

/** Returns the variables of the agent's sandbox: the secrets marked `for_agent`. */
export const agentVariables = (secrets: readonly OpenSecret[]) =>
  variablesOf(secrets, ({ for_agent }) => for_agent)

/**
 * Returns the variables of setup commands: all secrets except those of the service's own git and those too
 * short to be redacted.
 */
export const setupVariables = (secrets: readonly OpenSecret[]) =>
  variablesOf(
    secrets,
    ({ repository_id, name, value }) =>
      !isForGitAlone(repository_id, name) &&
      (isSetting(name) || Buffer.byteLength(value.trim()) >= SHORTEST_SECRET),
  )

/** Returns a keyed digest of the secrets that setup commands get, which reveals nothing about them. */
export function setupSecretsDigest(
  sealer: Sealer,
  organization_id: number,
  secrets: readonly OpenSecret[],
): string {
  const name = createHash('sha256')
    .update(JSON.stringify(Object.entries(setupVariables(secrets)).sort()))
    .digest('hex')
  return sealer.derive({ organization_id, scope: 'environment', name }, 32)
}

/**
 * A secret of the repository overrides the organization's secret of the same name, even when it is itself not
 * a variable here.
 */
function variablesOf(
  secrets: readonly OpenSecret[],
  isIncluded: (secret: OpenSecret) => boolean,
): Record<string, string> {
  const included = secrets.filter(secret => mayBeVariable(secret.name) && isIncluded(secret))
  const of_organization = included.filter(({ repository_id }) => repository_id === null)
  const of_repository = included.filter(({ repository_id }) => repository_id !== null)
  const overridden = new Set(
    secrets.filter(({ repository_id }) => repository_id !== null).map(({ name }) => name),
  )
  const all = [...of_organization.filter(({ name }) => !overridden.has(name)), ...of_repository]
  return Object.fromEntries(all.map(({ name, value }) => [name, value]))
}

/** The port inside a sandbox on which every program finds the proxy, and the socket behind it. */
export const PROXY_PORT = 3128
export const PROXY_SOCKET = '/run/egress.sock'
/** The same for the model gateway of an agent of another vendor. */
export const GATEWAY_PORT = 3129
export const GATEWAY_SOCKET = '/run/models.sock'

/** Where Java builds read options: Java ignores the standard proxy variables. */
const JAVA_OPTIONS = ['MAVEN_OPTS', 'GRADLE_OPTS'] as const
/** Java connects to loopback addresses directly without a setting. */
const JAVA_PROXY = ['http', 'https']
  .map(scheme => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${PROXY_PORT}`)
  .join(' ')

/** Returns the variables that lead programs to the proxy and the mirrors. */
export function proxyEnvironment(mirrors: readonly Mirror[]): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`
  const direct = 'localhost,sandbox,127.0.0.1,127.0.0.0/8,0.0.0.0,::1'
  return {
    // Other programs trust the certificates of the machine by default, Node does not; registries of companies
    // often use a private authority.
    NODE_USE_SYSTEM_CA: '1',
    // Yarn ignores the standard variables from version 2 on.
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    no_proxy: direct,
    NO_PROXY: direct,
    ...Object.fromEntries(JAVA_OPTIONS.map(name => [name, JAVA_PROXY])),
    // Node from 22.21 and 24 on; older versions have no variable for it.
    NODE_USE_ENV_PROXY: '1',
    ...Object.assign({}, ...mirrors.map(mirrorVariables)),
  }
}

/** Adds the variables of the proxy to variables of the user; Java options are joined. */
export function withProxyEnv(
  own: Record<string, string>,
  proxy: Record<string, string>,
): Record<string, string> {
  const both = JAVA_OPTIONS.flatMap(name =>
    own[name] && proxy[name] ? [[name, `${proxy[name]} ${own[name]}`]] : [],
  )
  return { ...own, ...proxy, ...Object.fromEntries(both) }
}
