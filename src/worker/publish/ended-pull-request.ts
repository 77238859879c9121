import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'

export const isEnded = ({ state }: PullRequestRow): boolean => state === 'closed' || state === 'merged'
