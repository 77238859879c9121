import type { LogFinding } from '../contract/runs/log-analysis.ts'

const MAX_SHOWN = 20
const ENTRY_BYTES = 96 * 1024
const EXCERPT_LINES = 8

/** Returns as many findings as fit into one entry of a trace, complete ones. */
export function fitting(findings: readonly LogFinding[]): { findings: LogFinding[]; left_out: number } {
  let bytes = 0
  const kept = findings.filter(one => {
    bytes += Buffer.byteLength(JSON.stringify(one))
    return bytes <= ENTRY_BYTES
  })
  return { findings: kept, left_out: findings.length - kept.length }
}

/** Returns the result of an analysis for people: Markdown with a link to every named entry. */
export function resultText(
  message: string,
  findings: readonly LogFinding[],
  explanation: string | null,
): string {
  const shown = findings.slice(0, MAX_SHOWN)
  const parts = [
    explanation,
    plain(message),
    ...shown.map(asText),
    findings.length > shown.length
      ? `…and ${findings.length - shown.length} more: see the entry of the analysis.`
      : null,
  ]
  return parts.filter(part => part !== null).join('\n\n')
}

function asText(one: LogFinding): string {
  const where = one.seq === null ? `run ${one.agent_run_id}` : `run ${one.agent_run_id}, #${one.seq}`
  const lines = [
    `**${one.severity}: ${plain(one.message)}** ([${where}](${one.url}))`,
    one.cause === null ? null : `Cause: ${plain(one.cause)}`,
    one.mend === null ? null : `What to do: ${plain(one.mend)}`,
    one.tests.length < 2
      ? null
      : one.tests
          .slice(0, 10)
          .map(({ name, location }) => `- ${plain(name)}${location === null ? '' : ` (${plain(location)})`}`)
          .join('\n'),
    one.excerpt === null || one.severity === 'info' ? null : fenced(one.excerpt),
  ]
  return lines.filter(line => line !== null).join('\n\n')
}

/** Returns untrusted text on one line and with Markdown escaped, except for `code`. */
const plain = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(/[\\`*_[\]<>|!]/g, '\\$&')))
    .join('')

/** The fence is longer than any in the text. */
function fenced(excerpt: string): string {
  const longest = Math.max(2, ...[...excerpt.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${excerpt.split('\n').slice(0, EXCERPT_LINES).join('\n')}\n${fence}`
}
