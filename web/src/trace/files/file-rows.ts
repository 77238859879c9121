import type { RunFileEntry } from '../../../../src/contract/runs/run-files.ts'

/** What is known of an open folder: its first entries, and whether more are being loaded. */
export type FolderContent = {
  items: readonly RunFileEntry[]
  total: number
  loading: boolean
  problem: string | null
}

type TreeLevel = { level: number; folder: string }
/**
 * A line of the tree. `open`: of a folder, null for everything else. `position` and `size` are among all
 * entries of the folder.
 */
export type FileRow =
  | ({ kind: 'entry'; entry: RunFileEntry; open: boolean | null; position: number; size: number } & TreeLevel)
  | ({ kind: 'more'; rest: number } & TreeLevel)
  | ({ kind: 'loading' } & TreeLevel)
  | ({ kind: 'problem'; message: string } & TreeLevel)

/**
 * Returns the lines of a tree of files from top to bottom. `contentOf`: undefined for a folder that is
 * closed.
 */
export function fileRows(
  contentOf: (folder: string) => FolderContent | undefined,
  folder = '',
  level = 1,
): FileRow[] {
  const content = contentOf(folder)
  if (content === undefined) return []
  const { items, total, loading, problem } = content
  const on_level = { level, folder }
  const rows = items.flatMap((entry, index): FileRow[] => {
    const inside = entry.kind === 'folder' ? fileRows(contentOf, entry.path, level + 1) : []
    const open = entry.kind === 'folder' ? contentOf(entry.path) !== undefined : null
    return [{ kind: 'entry', entry, open, position: index + 1, size: total, ...on_level }, ...inside]
  })
  if (problem !== null) return [...rows, { kind: 'problem', message: problem, ...on_level }]
  if (loading) return [...rows, { kind: 'loading', ...on_level }]
  return total > items.length ? [...rows, { kind: 'more', rest: total - items.length, ...on_level }] : rows
}

/** Identifies a line as long as its folder is open. */
export const keyOfRow = (row: FileRow): string =>
  row.kind === 'entry' ? `/${row.entry.path}` : `${row.kind} ${row.folder}`

/** Returns the folders above a path, from the top. */
export function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

/** What a key does in a tree, by the pattern of the ARIA Authoring Practices; null: nothing. */
type TreeMove = { to: number } | { open: string } | { close: string } | null

/** Returns what a key does at a line. */
export function treeMove(rows: readonly FileRow[], at: number, key: string): TreeMove {
  const row = rows[at]
  const to = (index: number): TreeMove =>
    index >= 0 && index < rows.length && index !== at ? { to: index } : null
  if (key === 'ArrowDown') return to(at + 1)
  if (key === 'ArrowUp') return to(at - 1)
  if (key === 'Home') return to(0)
  if (key === 'End') return to(rows.length - 1)
  if (row === undefined) return null
  const is_folder = row.kind === 'entry' && row.open !== null
  if (key === 'ArrowRight' && is_folder)
    return row.open ? ((rows[at + 1]?.level ?? 0) > row.level ? to(at + 1) : null) : { open: row.entry.path }
  if (key !== 'ArrowLeft') return null
  if (is_folder && row.open) return { close: row.entry.path }
  return to(rows.findLastIndex((above, index) => index < at && above.level < row.level))
}
