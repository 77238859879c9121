import type { unproved_reasons } from '../../contract/repositories/setup-commands.ts'
import { plainOutput } from '../../core/pull-requests/failing-excerpt.ts'
import { plainLines } from '../plain-lines.ts'
import { type Counts, countsIn } from '../test-counts.ts'
import { MISSING } from './missing-packages.ts'

export type Reason = (typeof unproved_reasons)[number]

export type FailedCommand = { output: string; exit_code: number | null; timed_out: boolean }
export type ExplainedFailure = {
  reason: Extract<Reason, 'toolchain_missing' | 'registry_unreachable' | 'time_over'>
  detail: string
}

/** The maximum size of an output that is examined. */
const MAX_EXAMINED = 64 * 1024
const OF_A_LINE = 500
const MAX_NAMED = 5

/** Returns the end of an output in the form that the rules expect: in lines of limited length. */
export const readable = (output: string): string =>
  plainLines(plainOutput(output.slice(-MAX_EXAMINED)))
    .split('\n')
    .map(line => line.slice(0, OF_A_LINE))
    .join('\n')

/** Case-sensitive, because the names occur in other words in lower case. */
const REGISTRY_CODES =
  /\b(?:E403|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_HAS_EXPIRED|CERTIFICATE_VERIFY_FAILED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ERR_PNPM_META_FETCH_FAIL)|UnknownHostException/
const REGISTRY =
  /(?:self-signed certificate|unable to (?:verify the first|get local issuer) certificate|403 Forbidden|50[234] (?:Bad Gateway|Service|Gateway)|Bad Gateway \(|the name \S{1,100} cannot be resolved|x509: certificate|SSL certificate problem|tunneling socket could not be established|Could not resolve (?:host|proxy)|Temporary failure in name resolution|Failed to establish a new connection|Cannot connect to proxy|ProxyError|Tunnel connection failed|CONNECT tunnel failed|Name or service not known|dial tcp[^\n]{0,500}(?:lookup|refused|unreachable)|Could not transfer artifact|Could not (?:reach|fetch specs)|failed to (?:fetch|download) `?https?:|error sending request for url|spurious network error|curl error (?:5|6|7|28|56)|could not be downloaded|network (?:is unreachable|request failed)|Failed to connect to|There appears to be trouble with your network|from versions: none|HTTP error [45]\d\d while getting|YN0081|ERR_SOCKET_CLOSED_BEFORE_CONNECTION)/i

/** The message of a sandbox's proxy, in lines of any length. */
const UNRESOLVED = /the name (\S{1,100}) cannot be resolved/
/** The beginning of a detail when the registry was reached. */
export const ABSENT_FROM_REGISTRY = 'The registry does not have'
/** The requirement that package managers report as missing. */
const WANTED =
  /No matching distribution found for ([^\s(;]{1,100})|satisfies the requirement ([^\s(;]{1,100})|Plugin (\S{1,120}) or one of its dependencies|failed to get `(\S{1,80})` as a dependency|go: (\S{1,120}@\S{1,60}): Get/

/** Returns null when the cause is not outside of the repository. */
export function explain({ output, timed_out }: FailedCommand): ExplainedFailure | null {
  const text = readable(output)
  if (timed_out) return { reason: 'time_over', detail: 'It was not done in its time.' }
  const absent =
    /No matching version found for (\S{1,200})|'(\S{1,200})' (?:is not in this registry|could not be found)/.exec(
      text,
    )
  if (absent !== null)
    return {
      reason: 'registry_unreachable',
      detail: `${ABSENT_FROM_REGISTRY} ${(absent[1] ?? absent[2] ?? '').replace(/\.$/, '')}.${/E404|404 Not Found/.test(text) ? ' If it is private, the setup needs its registry in .npmrc and a token as a secret.' : ''}`,
    }
  const unresolved = UNRESOLVED.exec(output.slice(-MAX_EXAMINED))?.[1]
  if (unresolved !== undefined) {
    const wanted = WANTED.exec(text)
      ?.slice(1)
      .find(name => name !== undefined)
    const what = wanted === undefined ? '' : ` The requirement was ${wanted}.`
    return {
      reason: 'registry_unreachable',
      detail: `${unresolved} cannot be reached: its name cannot be resolved here.${what}`,
    }
  }
  const unknown = /No matching distribution found for ([^\s(;]{1,100})/.exec(text)?.[1]
  if (unknown !== undefined && !/connection broken by|Failed to establish|HTTP error/.test(text))
    return {
      reason: 'registry_unreachable',
      detail: `${ABSENT_FROM_REGISTRY} ${unknown}. If it is private, the setup needs its registry in PIP_EXTRA_INDEX_URL, with a token as a secret.`,
    }
  const lines = text.split('\n').filter(line => REGISTRY_CODES.test(line) || REGISTRY.test(line))
  const registry = lines.find(line => !/^\s*warning\b/i.test(line)) ?? lines[0]
  if (registry !== undefined) return { reason: 'registry_unreachable', detail: registry.trim().slice(0, 400) }
  for (const [pattern, explain] of MISSING) {
    const names = [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])
    if (names.length > 0)
      return {
        reason: 'toolchain_missing',
        detail: [...new Set(names)].slice(0, MAX_NAMED).map(explain).join(' '),
      }
  }
  return null
}

/** Messages of a proof when something that the setup should have installed is missing. */
const LACKS =
  /Cannot find (?:module|package) '(?!\.|\/|file:)[^']+'|Module not found: Error: Can't resolve '(?!\.)|ModuleNotFoundError: No module named|ImportError: No module named|cannot find package|no required module provides|could not find gem|Can't locate \S+ in @INC|cannot load such file -- (?!\.|\/)|LoadError|Class "[^"]+" not found|error: no matching package|unresolved import|command not found|: not found|package [\w.]+ does not exist/

export const lacksAnything = ({ output }: FailedCommand): boolean => LACKS.test(readable(output))

/** Returns the same for tests: true when the repository's own tests could not even start. */
export const lacksSomething = (failed: FailedCommand): boolean =>
  failed.exit_code === 127 || (LACKS.test(readable(failed.output)) && mostlyPassed(failed) === null)

/**
 * Returns the counts when most tests passed: then the setup is complete, and the other failures are the
 * repository's own. Null: not so, or unknown.
 */
export function mostlyPassed({ output, timed_out }: FailedCommand): Counts | null {
  const counts = timed_out ? null : countsIn(readable(output))
  return counts !== null && counts.passed > counts.failed ? counts : null
}

const NO_FILES =
  /No test files? found|no tests specified$|No tests found|Could(?: not|n.t) find any (?:test files|files to test)|Could not find '[^'\n]*test|Ran 0 tests|no tests ran|\[no test files\]|No tests to run|Result: NOTESTS|No tests defined|No tests were found!!!/im
const NO_NETWORK =
  /\bfetch failed\b|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|ENETUNREACH|Temporary failure in name resolution|Name or service not known|Could not resolve host/

/** Returns whether a test command ran no test, which many runners do without an error. */
export function hasNoTests({ output }: FailedCommand): boolean {
  const text = readable(output)
  const counts = countsIn(text)
  return counts === null ? NO_FILES.test(text) : counts.passed + counts.failed === 0
}

/**
 * Returns why tests fail for a reason outside of the setup, as text; null: for a reason in the repository.
 */
export function whyRed(failed: FailedCommand): string | null {
  if (failed.timed_out) return 'not done in its time'
  const text = readable(failed.output)
  const counts = countsIn(text)
  if (counts === null ? NO_FILES.test(text) : counts.passed + counts.failed === 0)
    return 'the commit has no files of such tests'
  if (NO_NETWORK.test(text)) return 'it needs the network, which checks do not have'
  if (counts !== null && counts.passed > 0)
    return `${counts.failed} of ${counts.passed + counts.failed} ${counts.of}`
  return explain(failed)?.detail.slice(0, 160).replace(/\.$/, '') ?? null
}
