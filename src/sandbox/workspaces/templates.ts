import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createOwnFolder } from '../../system/own-folder.ts'
import { processIdentity } from '../../system/process-identity.ts'
import type { SystemUser } from '../../system/users.ts'
import { workspaceBytes } from './workspace-size.ts'
import { removeWorkspace, templateOf } from './workspaces.ts'

/**
 * Folders that workspaces are layers on, in `root`: `<name>/tree`, and `<name>/home` if they have home
 * folders, belong to the sandbox's user and are immutable once they have that name. `new-…` is being created
 * and `old-…` is being removed; both contain the id of the process, so that leftovers of a killed process are
 * recognized.
 */
export type TemplateFolders = { root: string; workspaces: string; user: SystemUser | null }

const PARTS = ['tree', 'home'] as const

export const templatePath = ({ root }: Pick<TemplateFolders, 'root'>, name: string): string =>
  join(root, name, 'tree')

export const templateHomePath = ({ root }: Pick<TemplateFolders, 'root'>, name: string): string =>
  join(root, name, 'home')

/** Which templates are swept together: the files of commits, or the results of setup commands. */
type TemplateKind = 'commit' | 'environment'
const NAMES = { commit: /^\d+-[0-9a-f]{40}$/, environment: /^\d+-env-[0-9a-f]{32}$/ }

/** Returns a unique name. */
export const newEnvironmentName = (repository_id: number): string =>
  `${repository_id}-env-${randomUUID().replaceAll('-', '')}`

/** Returns whether it exists, and records that it is used now. */
export function touchTemplate(folders: TemplateFolders, name: string): boolean {
  try {
    const now = new Date()
    utimesSync(join(folders.root, name), now, now)
    return existsSync(templatePath(folders, name))
  } catch {
    return false
  }
}

type Draft = { folder: string; tree: string; home: string; publish(name: string): void } & AsyncDisposable

/**
 * Creates an empty `tree` for a new template, and an empty `home` for an environment. `publish` gives it its
 * name, unless another process was faster; disposing removes an unpublished one.
 */
export function draftTemplate(folders: TemplateFolders, kind: TemplateKind): Draft {
  const path = join(folders.root, `new-${ownMark()}-${randomUUID()}`)
  createOwnFolder(path, 0o711, null)
  const parts = kind === 'environment' ? PARTS : (['tree'] as const)
  for (const part of parts) createOwnFolder(join(path, part), 0o700, folders.user)
  return {
    folder: path,
    tree: join(path, 'tree'),
    home: join(path, 'home'),
    publish(name) {
      try {
        renameSync(path, join(folders.root, name))
      } catch (error) {
        if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    },
    [Symbol.asyncDispose]: () => removeTemplate(folders, path),
  }
}

/**
 * Hides it from new workspaces. It stays while this process lives, because workspaces may use it as their
 * base.
 */
export function discardTemplate(folders: TemplateFolders, name: string): void {
  if (existsSync(join(folders.root, name)))
    renameSync(join(folders.root, name), join(folders.root, `old-${ownMark()}-${randomUUID()}`))
}

/**
 * Removes what killed processes left, unwanted templates of a kind, and then, the least recently used first,
 * the excess over `max_bytes`. The base of a workspace stays. Returns the removed names. `listWanted` is
 * called after the existing templates were listed: one that was wanted before it existed is included.
 */
export async function sweepTemplates(
  folders: TemplateFolders,
  kind: TemplateKind,
  max_bytes: number,
  listWanted: () => Promise<(name: string) => boolean>,
): Promise<string[]> {
  const names = readdirSync(folders.root)
  const wants = await listWanted()
  for (const name of names) if (isLeftover(name)) await removeTemplate(folders, join(folders.root, name))
  const found = await Promise.all(
    names.filter(name => NAMES[kind].test(name)).map(name => measure(folders, name)),
  )
  let bytes = found.reduce((sum, template) => sum + template.bytes, 0)
  const gone: string[] = []
  for (const template of found.toSorted((a, b) => a.used_at - b.used_at)) {
    if (bytes <= max_bytes && wants(template.name)) continue
    if (!(await retire(folders, template.name))) continue
    bytes -= template.bytes
    gone.push(template.name)
  }
  return gone
}

async function measure(folders: TemplateFolders, name: string) {
  const note = join(folders.root, name, 'bytes')
  const used_at = statSync(join(folders.root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const noted = Number(await readFile(note, 'utf8').catch(() => ''))
  const bytes = noted || (await templateBytes(folders, name))
  if (!noted && bytes > 0) {
    await writeFile(note, String(bytes)).catch(() => {})
    // The check itself does not count as a use.
    if (existsSync(note)) utimesSync(join(folders.root, name), new Date(used_at), new Date(used_at))
  }
  return { name, used_at, bytes }
}

/** Returns its size on disk; 0 when it cannot be measured in time. */
export async function templateBytes(folders: TemplateFolders, name: string): Promise<number> {
  const parts = PARTS.map(part => join(folders.root, name, part)).filter(part => existsSync(part))
  return (await Promise.all(parts.map(part => workspaceBytes(part, folders.user)))).reduce(
    (sum, bytes) => sum + bytes,
    0,
  )
}

/**
 * Returns true when it is gone. A caller that uses it for a workspace creates the workspace folder first and
 * then checks for the template; here the order is reversed, so one of the two notices.
 */
async function retire(folders: TemplateFolders, name: string): Promise<boolean> {
  const is_used = () => readdirSync(folders.workspaces).some(workspace => templateOf(workspace) === name)
  if (is_used()) return false
  const old = join(folders.root, `old-${ownMark()}-${randomUUID()}`)
  try {
    renameSync(join(folders.root, name), old)
  } catch {
    // Another process was faster.
    return false
  }
  if (is_used() && !existsSync(join(folders.root, name))) {
    renameSync(old, join(folders.root, name))
    return false
  }
  await removeTemplate(folders, old)
  return true
}

async function removeTemplate(folders: TemplateFolders, path: string): Promise<void> {
  if (!existsSync(path)) return
  for (const part of PARTS) await removeWorkspace(join(path, part), folders.user)
  await rm(path, { recursive: true, force: true })
}

const ownMark = () => mark(process.pid) ?? `${process.pid}-none`

function mark(pid: number): string | null {
  const identity = processIdentity(pid)
  return identity === null
    ? null
    : `${pid}-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`
}

function isLeftover(name: string): boolean {
  const [, creator = '', pid = ''] = /^(?:new|old)-((\d+)-[0-9a-z]+)-/.exec(name) ?? []
  return creator !== '' && mark(Number(pid)) !== creator
}
