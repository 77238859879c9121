import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { RunFiles } from '../../../../../src/contract/runs/run-files.ts'
import { FILES_PAGE, runFolderQuery } from '../../../api/run-files.ts'
import { type FolderContent, foldersAbove } from '../../../trace/files/file-rows.ts'

type Folders = {
  /** Undefined for a closed folder. */
  contentOf: (folder: string) => FolderContent | undefined
  set: (folder: string, open: boolean) => void
  /** Loads the next part of a folder. */
  more: (folder: string) => void
}

type Part = { path: string; skip: number }
const keyOf = ({ path, skip }: Part) => `${skip} ${path}`

/**
 * The open folders of a tree: those above the selected file, and those that somebody opened. Each is loaded
 * when it is opened.
 */
export function useFolders(root: RunFiles, selected: string | undefined): Folders {
  const { agent_run_id, seq } = root
  const cache = useQueryClient()
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [pages, setPages] = useState<ReadonlyMap<string, number>>(new Map())
  /** While the files after a later entry are loaded, the tree stays as it was. */
  const shown = useRef(new Map<string, RunFiles>())
  const above = foldersAbove(selected ?? '')
  const parts: Part[] = []
  const add = (path: string) => {
    const here = Array.from({ length: pages.get(path) ?? 1 }, (_, page) => ({
      path,
      skip: page * FILES_PAGE,
    }))
    parts.push(...here.filter(part => part.path !== '' || part.skip > 0))
    const known = here.map(
      part =>
        cache.getQueryData(runFolderQuery(agent_run_id, seq, part).queryKey) ??
        shown.current.get(keyOf(part)),
    )
    // What is open is requested only where its folder lists it: after another entry it may not exist.
    for (const { kind, path: below } of [
      ...(path === '' ? root.items : []),
      ...known.flatMap(data => data?.items ?? []),
    ])
      if (kind === 'folder' && (chosen.get(below) ?? above.includes(below))) add(below)
  }
  add('')
  const results = useQueries({ queries: parts.map(part => runFolderQuery(agent_run_id, seq, part)) })
  const contents = new Map<string, FolderContent>([
    ['', { items: root.items, total: root.total, loading: false, problem: null }],
  ])
  for (const [index, part] of parts.entries()) {
    const result = results[index]
    const key = keyOf(part)
    const { path } = part
    if (result?.data) shown.current.set(key, result.data)
    const data = result?.data ?? (result?.isPending ? shown.current.get(key) : undefined)
    const before = contents.get(path)
    contents.set(path, {
      items: [...(before?.items ?? []), ...(data?.items ?? [])],
      total: data?.total ?? before?.total ?? 0,
      loading: data === undefined && result?.isPending === true,
      problem: before?.problem ?? (result?.isError ? result.error.message : null),
    })
  }
  return {
    contentOf: folder => contents.get(folder),
    set: (folder, is_open) => setChosen(old => new Map(old).set(folder, is_open)),
    more: folder => setPages(old => new Map(old).set(folder, (old.get(folder) ?? 1) + 1)),
  }
}
