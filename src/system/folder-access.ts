import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SystemUser, SystemUsers } from './users.ts'

/**
 * Returns the outermost folder on the way to an existing path (itself included) that one of the service's
 * users may not pass through; null when all reach it, or when we are not root and everything runs as
 * ourselves.
 */
export function firstClosedFolder(path: string, users: SystemUsers): string | null {
  const who = [users.service, users.database, users.sandbox].filter(user => user !== null)
  const way = [realpathSync(path)]
  for (let folder = dirname(way[0] ?? '/'); folder !== way[0]; folder = dirname(folder)) way.unshift(folder)
  return way.find(folder => who.some(user => !mayPass(folder, user))) ?? null
}

/** By owner, group and mode alone: access lists are ignored. */
function mayPass(folder: string, user: SystemUser): boolean {
  const { uid, gid, mode } = statSync(folder)
  if (uid === user.uid) return (mode & 0o100) !== 0
  if (gid === user.gid) return (mode & 0o010) !== 0
  return (mode & 0o001) !== 0
}
