import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'

export const stateTones: Record<Sandbox['state'], string> = {
  starting: 'text-accent',
  running: 'text-accent',
  ended: 'text-muted',
  lost: 'text-bad',
}

/** Why a sandbox ended. */
export const endReasons: Record<NonNullable<Sandbox['end_reason']>, string> = {
  stopped: 'its work was done',
  start_failed: 'it could not be started',
  died: 'it ended by itself',
  owner_lost: 'its worker was lost',
}

/** Milliseconds from its start until its end, or until now; null before its start. */
export const uptime = ({ started_at, ended_at }: Sandbox, now: number): number | null =>
  started_at === null
    ? null
    : Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at))

export const mebibytes = (bytes: number | null) =>
  bytes === null ? '–' : `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MiB`
