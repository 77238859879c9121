import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeOwnFolder } from '../system/own-folder.ts'
import { processIdentity } from '../system/process-identity.ts'
import type { SystemUser } from '../system/users.ts'
import { workspaceBytes } from './workspace-size.ts'
import { removeWorkspace, templateOf } from './workspaces.ts'

/**
 * Folders that workspaces are layers on, in `root`: `<name>/tree` belongs to the sandbox's user and is not written any more once it has that
 * name. `new-…` is being made and `old-…` is going; both carry the process that does it, so that what a killed one left is found.
 */
export type TemplatePlace = { root: string; workspaces: string; user: SystemUser | null }

export const templatePath = ({ root }: Pick<TemplatePlace, 'root'>, name: string): string => join(root, name, 'tree')

/** Whether it is there; from now on it was used last. */
export function touchTemplate(place: TemplatePlace, name: string): boolean {
  try {
    const now = new Date()
    utimesSync(join(place.root, name), now, now)
    return existsSync(templatePath(place, name))
  } catch {
    return false
  }
}

/** An empty `tree` for one that is being made. `publish` gives it its name, unless another process was faster; disposing removes what has none. */
export function draftTemplate(place: TemplatePlace): { tree: string; publish(name: string): void } & AsyncDisposable {
  const path = join(place.root, `new-${ownMark()}-${randomUUID()}`)
  makeOwnFolder(path, 0o711, null)
  makeOwnFolder(join(path, 'tree'), 0o700, place.user)
  return {
    tree: join(path, 'tree'),
    publish(name) {
      try {
        renameSync(path, join(place.root, name))
      } catch (error) {
        if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    },
    [Symbol.asyncDispose]: () => removeTemplate(place, path),
  }
}

/** Nobody finds it any more. It stays while this process does, because workspaces may stand on it. */
export function discardTemplate(place: TemplatePlace, name: string): void {
  if (existsSync(join(place.root, name))) renameSync(join(place.root, name), join(place.root, `old-${ownMark()}-${randomUUID()}`))
}

/**
 * Removes what killed processes left, those that nobody `wants`, and then, the longest unused first, what is more than `max_bytes`. One that
 * a workspace stands on stays.
 */
export async function sweepTemplates(place: TemplatePlace, max_bytes: number, wants: (name: string) => boolean): Promise<void> {
  const names = readdirSync(place.root)
  for (const name of names) if (isLeftover(name)) await removeTemplate(place, join(place.root, name))
  const found = await Promise.all(names.filter(name => /^\d+-[0-9a-f]{40}$/.test(name)).map(name => measure(place, name)))
  let bytes = found.reduce((sum, template) => sum + template.bytes, 0)
  for (const template of found.toSorted((a, b) => a.used_at - b.used_at)) {
    if (bytes <= max_bytes && wants(template.name)) continue
    if (await retire(place, template.name)) bytes -= template.bytes
  }
}

async function measure(place: TemplatePlace, name: string) {
  const note = join(place.root, name, 'bytes')
  const used_at = statSync(join(place.root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const noted = Number(await readFile(note, 'utf8').catch(() => ''))
  const bytes = noted || (await workspaceBytes(templatePath(place, name), place.user))
  if (!noted && bytes > 0) {
    await writeFile(note, String(bytes)).catch(() => {})
    // That was no use of it.
    if (existsSync(note)) utimesSync(join(place.root, name), new Date(used_at), new Date(used_at))
  }
  return { name, used_at, bytes }
}

/** True: it is gone. Whoever takes it for a workspace makes the folder of that first and looks for the template then; here it is the other way round. */
async function retire(place: TemplatePlace, name: string): Promise<boolean> {
  const is_used = () => readdirSync(place.workspaces).some(workspace => templateOf(workspace) === name)
  if (is_used()) return false
  const old = join(place.root, `old-${ownMark()}-${randomUUID()}`)
  try {
    renameSync(join(place.root, name), old)
  } catch {
    // Another process was faster.
    return false
  }
  if (is_used() && !existsSync(join(place.root, name))) {
    renameSync(old, join(place.root, name))
    return false
  }
  await removeTemplate(place, old)
  return true
}

async function removeTemplate(place: TemplatePlace, path: string): Promise<void> {
  if (!existsSync(path)) return
  await removeWorkspace(join(path, 'tree'), place.user)
  await rm(path, { recursive: true, force: true })
}

const ownMark = () => mark(process.pid) ?? `${process.pid}-none`

function mark(pid: number): string | null {
  const identity = processIdentity(pid)
  return identity === null ? null : `${pid}-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`
}

function isLeftover(name: string): boolean {
  const [, made_by = '', pid = ''] = /^(?:new|old)-((\d+)-[0-9a-z]+)-/.exec(name) ?? []
  return made_by !== '' && mark(Number(pid)) !== made_by
}
