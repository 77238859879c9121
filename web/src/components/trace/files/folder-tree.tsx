import { Link } from '@tanstack/react-router'
import { ChevronRight, File, FileSymlink, Folder, FolderGit2 } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import type { RunFiles } from '../../../../../src/contract/runs/run-files.ts'
import { bytesText } from '../../../text/bytes.ts'
import { visible } from '../../../text/visible.ts'
import { type FileRow, fileRows, keyOfRow, treeMove } from '../../../trace/files/file-rows.ts'
import { useFolders } from './use-folders.ts'

const style =
  'flex min-h-6 w-full cursor-pointer items-center gap-1.5 rounded pr-1.5 text-left text-xs hover:bg-hover outline-offset-[-2px]'
const icons = { folder: Folder, file: File, link: FileSymlink, submodule: FolderGit2 }

/**
 * The files of a run as a tree: one line has the focus, and arrows move it. Folders are loaded when they are
 * opened.
 */
export function FolderTree({ root, selected }: { root: RunFiles; selected: string | undefined }) {
  const folders = useFolders(root, selected)
  const tree = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<string>()
  const rows = fileRows(folders.contentOf)
  const keys = rows.map(keyOfRow)
  const current = Math.max(0, keys.indexOf(focused ?? `/${selected}`))
  const lineAt = (index: number) => tree.current?.children[index] as HTMLElement | undefined
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const move = treeMove(rows, current, event.key)
    if (move !== null && 'to' in move) lineAt(move.to)?.focus()
    else if (move !== null) folders.set('open' in move ? move.open : move.close, 'open' in move)
    // Space activates a button and not a link.
    else if (event.key === ' ' && event.target instanceof HTMLAnchorElement) event.target.click()
    else if (!event.key.startsWith('Arrow') && event.key !== 'Home' && event.key !== 'End') return
    event.preventDefault()
  }
  return (
    <div ref={tree} role="tree" aria-label="Files" onKeyDown={onKeyDown}>
      {rows.map((row, index) => (
        <TreeLine
          key={keys[index]}
          row={row}
          selected={row.kind === 'entry' && row.entry.path === selected}
          focusable={index === current}
          on_focus={() => setFocused(keys[index])}
          on_click={() => {
            if (row.kind === 'entry') folders.set(row.entry.path, !row.open)
            else folders.more(row.folder)
          }}
        />
      ))}
    </div>
  )
}

type LineProps = {
  row: FileRow
  selected: boolean
  focusable: boolean
  on_focus: () => void
  on_click: () => void
}

function TreeLine({ row, selected, focusable, on_focus, on_click }: LineProps) {
  const item = {
    tabIndex: focusable ? 0 : -1,
    'aria-level': row.level,
    onFocus: on_focus,
    style: { paddingLeft: `${(row.level - 1) * 14 + 4}px` },
  } as const
  if (row.kind === 'loading' || row.kind === 'problem')
    return (
      <div
        {...item}
        role="treeitem"
        tabIndex={item.tabIndex}
        className={`${style} ${row.kind === 'problem' ? 'text-bad' : 'text-faint'}`}
      >
        {row.kind === 'problem' ? visible(row.message) : 'Loading…'}
      </div>
    )
  if (row.kind === 'more')
    return (
      <button {...item} type="button" role="treeitem" className={`${style} text-accent`} onClick={on_click}>
        {row.rest.toLocaleString('en')} more…
      </button>
    )
  const { entry, open, position, size } = row
  const of_entry = {
    ...item,
    'aria-posinset': position,
    'aria-setsize': size,
    'aria-selected': selected,
    'data-hint': visible(entry.path),
  }
  if (open !== null)
    return (
      <button
        {...of_entry}
        type="button"
        role="treeitem"
        aria-expanded={open}
        className={style}
        onClick={on_click}
      >
        <ChevronRight
          aria-hidden
          className={`size-3.5 shrink-0 text-faint transition-transform ${open ? 'rotate-90' : ''}`}
        />
        <Name entry={entry} />
      </button>
    )
  return (
    <Link
      {...of_entry}
      role="treeitem"
      to="."
      search={previous => ({ ...previous, file: entry.path })}
      hash
      className={`${style} ${selected ? 'bg-accent/8' : ''}`}
    >
      <span aria-hidden className="w-3.5 shrink-0" />
      <Name entry={entry} />
    </Link>
  )
}

function Name({ entry }: { entry: RunFiles['items'][number] }) {
  const Icon = icons[entry.kind]
  return (
    <>
      <Icon aria-hidden className="size-3.5 shrink-0 text-faint" />
      <bdi className="min-w-0 truncate">{visible(entry.name)}</bdi>
      {entry.kind === 'link' && (
        <span className="min-w-0 truncate text-faint">
          <span className="sr-only">link to </span>
          <span aria-hidden>→ </span>
          {visible(entry.target ?? '…')}
        </span>
      )}
      {entry.kind === 'submodule' && <span className="shrink-0 text-faint">submodule</span>}
      {entry.size !== null && (
        <span className="tabular ml-auto shrink-0 text-2xs text-faint">{bytesText(entry.size)}</span>
      )}
    </>
  )
}
