import type { RunDiff } from '../../../../src/contract/runs/run-diff.ts'

type ChangedFile = RunDiff['files'][number]

/** A folder with its content, or a changed file with its position in the list of files. */
export type TreeNode = { name: string; path: string } & (
  | { folder: TreeNode[] }
  | { file: ChangedFile; index: number }
)

/**
 * The changed files as a tree: folders first, by name. A folder that contains only another one is shown as
 * one, `src/app`.
 */
export function fileTree(files: ChangedFile[]): TreeNode[] {
  return folderOf(
    files.map((file, index) => ({ file, index, parts: file.path.split('/') })),
    '',
  )
}

type Rest = { file: ChangedFile; index: number; parts: string[] }

function folderOf(rest: Rest[], above: string): TreeNode[] {
  const folders = new Map<string, Rest[]>()
  const files: TreeNode[] = []
  for (const { file, index, parts } of rest) {
    const [name = '', ...deeper] = parts
    if (deeper.length === 0) files.push({ name, path: file.path, file, index })
    else folders.set(name, [...(folders.get(name) ?? []), { file, index, parts: deeper }])
  }
  const nodes = [...folders].map(([name, inside]) =>
    joined({ name, path: above + name, folder: folderOf(inside, `${above}${name}/`) }),
  )
  return [...nodes.sort(byName), ...files.sort(byName)]
}

function joined(node: TreeNode & { folder: TreeNode[] }): TreeNode {
  const [only] = node.folder
  if (only === undefined || node.folder.length > 1 || !('folder' in only)) return node
  return { ...only, name: `${node.name}/${only.name}` }
}

const byName = (one: TreeNode, other: TreeNode) => (one.name < other.name ? -1 : 1)
