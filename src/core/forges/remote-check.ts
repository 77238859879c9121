import { limits } from '../../contract/limits.ts'
import {
  type CheckConclusion,
  type CheckSource,
  type CheckStatus,
  checkConclusions,
} from '../../contract/pull-requests/checks.ts'
import { hasFailed, hasPassed } from '../pull-requests/checks-verdict.ts'
import { storedText } from '../text/stored-text.ts'

/** A check as its forge reports it. Its texts are untrusted. */
export type ReportedCheck = {
  name: string
  app: string | null
  status: CheckStatus
  conclusion: string | null
  url: string | null
  log_excerpt: string
  started_at: Date | null
  completed_at: Date | null
}
export type KnownCheck = {
  name: string
  status: CheckStatus
  attempt: number
  started_at: Date | null
  completed_at: Date | null
}

const MAX = { checks: 200, url: 2_000, app: 100 }

/**
 * Returns what to store of a forge's report on one commit. A forge reports only the newest attempt: it is a
 * new one when it began, or ended, later than the stored one, or has not ended. Of several checks with one
 * name the worst result counts.
 */
export function reportsOf(
  reported: readonly ReportedCheck[],
  known: readonly KnownCheck[],
  of: { head_sha: string; source: CheckSource; excerptOf(text: string): string },
) {
  const named = new Map<string, ReportedCheck & { conclusion: CheckConclusion | null }>()
  for (const one of reported) {
    const name = oneLine(storedText(one.name)).slice(0, limits.check_name_chars).toWellFormed() || 'check'
    const check = { ...one, name, conclusion: conclusionOf(one) }
    const other = named.get(name)
    if (other === undefined || weight(check) > weight(other)) named.set(name, check)
  }
  return [...named.values()].slice(0, MAX.checks).map(check => {
    const { name, app, status, conclusion, url, log_excerpt, started_at, completed_at } = check
    const before = known.find(one => one.name === name)
    const attempt = before === undefined ? 1 : before.attempt + (isAnother(before, check) ? 1 : 0)
    return {
      head_sha: of.head_sha,
      source: of.source,
      name,
      status,
      conclusion,
      attempt,
      started_at,
      app: app === null ? null : storedText(app).slice(0, MAX.app).toWellFormed(),
      url: url === null || url.length > MAX.url ? null : storedText(url),
      log_excerpt:
        conclusion !== null && hasFailed({ conclusion })
          ? of.excerptOf(storedText(log_excerpt)) || null
          : null,
      completed_at: status === 'completed' ? completed_at : null,
    }
  })
}

/** Check names reach the agent as one line, so that they cannot carry lines of instructions. */
const oneLine = (name: string) => name.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** An unknown conclusion is left for a person. */
function conclusionOf({ status, conclusion }: ReportedCheck): CheckConclusion | null {
  if (status !== 'completed') return null
  return checkConclusions.find(known => known === conclusion) ?? 'action_required'
}

const weight = ({ conclusion }: { conclusion: CheckConclusion | null }) =>
  conclusion === null ? 1 : hasPassed({ conclusion }) ? 0 : 2

const later = (now: Date | null, before: Date | null) => now !== null && before !== null && now > before

function isAnother(before: KnownCheck, now: ReportedCheck): boolean {
  if (before.status !== 'completed') return false
  return (
    now.status !== 'completed' ||
    later(now.started_at, before.started_at) ||
    later(now.completed_at, before.completed_at)
  )
}
