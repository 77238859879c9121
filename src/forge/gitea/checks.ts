import { MARK_NAME } from '../../core/forges/run-mark.ts'
import type { CommitMark, RemoteCheck } from '../port.ts'
import { outputOf } from '../texts.ts'
import type { Status } from './shapes.ts'

const conclusions: Record<string, string> = { error: 'failure', warning: 'neutral' }

/** A mark of ours, by name and author. */
const isOwnMark = (status: Status, login: string) =>
  status.context === MARK_NAME && status.creator?.login === login

/** Every change of a status is another one, with a higher number. */
const byAge = (statuses: readonly Status[]) => statuses.toSorted((one, other) => other.id - one.id)

/**
 * Returns the statuses of a commit, the newest of each context, without marks of `login`, which is our
 * account. Gitea Actions report by statuses too.
 */
export function checksOf(statuses: readonly Status[], forge_url: string, login: string): RemoteCheck[] {
  const newest = new Map<string, Status>()
  for (const status of byAge(statuses)) if (!newest.has(status.context)) newest.set(status.context, status)
  return [...newest.values()]
    .filter(status => !isOwnMark(status, login))
    .map(({ context, status, target_url, description, created_at, updated_at }) => {
      const pending = status === 'pending'
      return {
        name: context,
        app: null,
        status: pending ? 'in_progress' : 'completed',
        conclusion: pending ? null : (conclusions[status] ?? status),
        url: webAddress(target_url, forge_url),
        log_excerpt: outputOf([description]),
        started_at: created_at,
        completed_at: pending ? null : (updated_at ?? created_at),
      }
    })
}

/** Actions of the forge itself are named by a path on it. */
function webAddress(target: string, forge_url: string): string | null {
  const url = target === '' ? null : URL.parse(target, forge_url)
  return url !== null && ['https:', 'http:'].includes(url.protocol) ? url.href : null
}

const states = { success: 'success', neutral: 'success', failure: 'failure', cancelled: 'error' } as const

/** Returns the status that shows the mark; null: the last one does already. */
export function markStatus(
  statuses: readonly Status[],
  login: string,
  { conclusion, url, title }: CommitMark,
) {
  const state = conclusion === null ? 'pending' : states[conclusion]
  const last = byAge(statuses).find(status => isOwnMark(status, login))
  if (last?.status === state && last.target_url === url && last.description === title) return null
  return { state, target_url: url, description: title, context: MARK_NAME }
}
