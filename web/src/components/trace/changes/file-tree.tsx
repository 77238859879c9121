import { Folder } from 'lucide-react'
import { visible } from '../../../text/visible.ts'
import type { TreeNode } from '../../../trace/changes/file-tree.ts'

const row = 'flex min-h-6 w-full items-center gap-1.5 rounded px-1.5 text-left text-xs'
const marks: Record<string, [letter: string, style: string]> = {
  added: ['A', 'text-ok'],
  deleted: ['D', 'text-bad'],
  renamed: ['R', 'text-accent'],
  copied: ['C', 'text-accent'],
}

/** The changed files as a tree. A click on one calls `on_file` with its position in the list of files. */
export function FileTree({ nodes, on_file }: { nodes: TreeNode[]; on_file: (index: number) => void }) {
  return (
    <ul className="[ul_&]:ml-2.5 [ul_&]:border-line [ul_&]:border-l [ul_&]:pl-1">
      {nodes.map(node => (
        <li key={`${'folder' in node} ${node.path}`}>
          {'folder' in node ? (
            <>
              <span className={`${row} text-muted`}>
                <Folder aria-hidden className="size-3.5 shrink-0 text-faint" />
                <bdi className="truncate">{visible(node.name)}</bdi>
              </span>
              <FileTree nodes={node.folder} on_file={on_file} />
            </>
          ) : (
            <button
              type="button"
              className={`${row} hover:bg-hover`}
              data-hint={visible(node.path)}
              onClick={() => on_file(node.index)}
            >
              <bdi
                className={`min-w-0 flex-1 truncate ${node.file.status === 'deleted' ? 'line-through' : ''}`}
              >
                {visible(node.name)}
              </bdi>
              <Mark status={node.file.status} />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

function Mark({ status }: { status: string }) {
  const [letter, style] = marks[status] ?? ['M', 'text-faint']
  return (
    <span className={`shrink-0 font-mono text-2xs ${style}`}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{status.replace('_', ' ')}</span>
    </span>
  )
}
