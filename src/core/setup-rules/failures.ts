import type { unproved_reasons } from '../../contract/setup-commands.ts'
import { plainOutput } from '../failing-excerpt.ts'

export type Reason = (typeof unproved_reasons)[number]

export type Failed = { output: string; exit_code: number | null; timed_out: boolean }
export type Explained = { reason: Extract<Reason, 'toolchain_missing' | 'registry_unreachable' | 'time_over'>; detail: string }

/** What is looked through of an output. */
const LOOKED_AT = 64 * 1024
const OF_A_LINE = 500

/** An output as the rules look through it: its end, in lines that are not too long for them. */
export const readable = (output: string): string =>
  plainOutput(output.slice(-LOOKED_AT))
    .split('\n')
    .map(line => line.slice(0, OF_A_LINE))
    .join('\n')

/** By their names, which are parts of other words in small letters. */
const REGISTRY_CODES =
  /\b(?:E403|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_HAS_EXPIRED|CERTIFICATE_VERIFY_FAILED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ERR_PNPM_META_FETCH_FAIL)|UnknownHostException/
const REGISTRY =
  /(?:self-signed certificate|unable to (?:verify the first|get local issuer) certificate|403 Forbidden|50[234] (?:Bad Gateway|Service|Gateway)|x509: certificate|SSL certificate problem|tunneling socket could not be established|Could not resolve (?:host|proxy)|Temporary failure in name resolution|Failed to establish a new connection|Cannot connect to proxy|ProxyError|Tunnel connection failed|CONNECT tunnel failed|Name or service not known|dial tcp[^\n]*(?:lookup|refused|unreachable)|Could not transfer artifact|Could not (?:reach|fetch specs)|failed to (?:fetch|download) `?https?:|error sending request for url|spurious network error|curl error (?:5|6|7|28|56)|could not be downloaded|network (?:is unreachable|request failed)|Failed to connect to|There appears to be trouble with your network|from versions: none|YN0081|ERR_SOCKET_CLOSED_BEFORE_CONNECTION)/i

/** What is not there, by what is said where it is missed. The first group names it. */
const MISSING: [RegExp, (name: string) => string][] = [
  [
    /(?:^|\n)(?:[^\n:]*(?:sh|bash|env|make(?:\[\d+\])?|xargs|dash): (?:line \d+: |\d+: |1: )?)?['"‘]?([\w.+-]{1,60})['"’]?: (?:command not found|not found|No such file or directory\n[^\n]*Error 127)/,
    name => `The program ${name} is not there.`,
  ],
  [/make(?:\[\d+\])?: ([\w./+-]{1,60}): No such file or directory/, name => `The program ${name} is not there.`],
  [/go\.mod requires go >= ?(\S{1,20})/, version => `Go ${version} or newer is needed.`],
  [/requires rustc (\d[\w.]{1,20})/, version => `Rust ${version} or newer is needed.`],
  [
    /(?:lock file version|edition)[^\n]{0,40}?`?(\w{1,8})`?[^\n]{0,80}(?:requires|not (?:understood|stabilized|supported))/,
    version => `A newer Cargo is needed (${version}).`,
  ],
  [/requires a different Python: ([^\n]{1,80})/, wanted => `Another version of Python is needed: ${wanted}.`],
  [/(?:invalid (?:target|source) release|release version) ['"]?([\d.]{1,8})['"]?/, version => `A JDK for Java ${version} is needed.`],
  [/Your Ruby version is [^\n]{1,40}, but your Gemfile specified ([^\n]{1,40})/, version => `Ruby ${version} is needed.`],
  [/CMake ([\d.]{1,12}) or higher is required/, version => `CMake ${version} or newer is needed.`],
  [/fatal error: ([\w/.+-]{1,100}\.(?:h|hpp|hh)): No such file/, name => `The header ${name} of a library is not there.`],
  [/Package '?([\w.+-]{1,60})'?,? (?:required by|was not found|not found)/, name => `The library ${name} is not there.`],
  [/Could NOT find (\w{1,60})/, name => `CMake does not find ${name}.`],
  [/configure: error: ([^\n]{0,160}(?:not found|missing|required|needed|install)[^\n]{0,100})/i, text => `configure says: ${text}`],
  [/(?:No CMAKE_(C|CXX)_COMPILER could be found)/, name => `There is no compiler for ${name}.`],
  [/cannot find -l([\w.+-]{1,60})/, name => `The library ${name} is not there.`],
  [/linker `([\w-]{1,30})` not found/, name => `The linker ${name} is not there.`],
  [/: (?:line )?\d{1,5}: ([\w.+-]{1,60}): (?:command )?not found/, name => `The program ${name} is not there.`],
  [/The ([\w-]{1,40})(?: OR [\w-]{1,40})? extension is required/, name => `PHP has no extension ${name} here.`],
  [/requires? (?:PHP extension )?ext-([\w-]{1,40})/, name => `PHP has no extension ${name} here.`],
  [/NoSuchFileException: (\/(?:etc|usr)\/[\w./-]{1,100})/, path => `The program reads ${path}, which sandboxes do not show.`],
  [/(ensurepip) is not\s+available/, () => 'Python cannot make virtual environments: Debian has that in python3-venv.'],
]

/** Null: nothing that lies outside of the repository. */
export function explain({ output, timed_out }: Failed): Explained | null {
  const text = readable(output)
  if (timed_out) return { reason: 'time_over', detail: 'It was not done in its time.' }
  const absent = /No matching version found for (\S{1,200})|'(\S{1,200})' (?:is not in this registry|could not be found)/.exec(text)
  if (absent !== null)
    return {
      reason: 'registry_unreachable',
      detail: `The registry does not have ${(absent[1] ?? absent[2] ?? '').replace(/\.$/, '')}.${/E404|404 Not Found/.test(text) ? ' If it is private, the setup needs its registry in .npmrc and a token as a secret.' : ''}`,
    }
  const registry = text.split('\n').find(line => REGISTRY_CODES.test(line) || REGISTRY.test(line))
  if (registry !== undefined) return { reason: 'registry_unreachable', detail: registry.trim().slice(0, 400) }
  for (const [pattern, say] of MISSING) {
    const name = pattern.exec(text)?.[1]
    if (name !== undefined) return { reason: 'toolchain_missing', detail: say(name) }
  }
  return null
}

/** What a proof says where it lacks something that the setup should have brought, and the repository's own tests have not even begun. */
const LACKS =
  /Cannot find (?:module|package) '(?!\.|\/|file:)[^']+'|Module not found: Error: Can't resolve '(?!\.)|ModuleNotFoundError: No module named|ImportError: No module named|cannot find package|no required module provides|could not find gem|cannot load such file -- (?!\.|\/)|LoadError|Class "[^"]+" not found|error: no matching package|unresolved import|command not found|: not found|package [\w.]+ does not exist/

export const lacksSomething = ({ output, exit_code }: Failed): boolean => exit_code === 127 || LACKS.test(readable(output))

const NO_FILES =
  /No test files? found|no tests specified$|No tests found|Could not find any test files|Could not find '[^'\n]*test|Ran 0 tests|no tests ran/im
const NO_NETWORK =
  /\bfetch failed\b|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|ENETUNREACH|Temporary failure in name resolution|Name or service not known|Could not resolve host/

/** Why tests of the repository fail that the setup is not the reason of, in words; null: for a reason of their own. */
export function whyRed(failed: Failed): string | null {
  if (failed.timed_out) return 'not done in its time'
  const text = readable(failed.output)
  if (NO_FILES.test(text)) return 'the commit has no files of such tests'
  if (NO_NETWORK.test(text)) return 'it wants the network, which checks do not have'
  return explain(failed)?.detail.slice(0, 160).replace(/\.$/, '') ?? null
}
