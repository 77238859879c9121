import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListX } from 'lucide-react'
import type { RunFiles } from '../../../../../src/contract/runs/run-files.ts'
import { runFolderQuery } from '../../../api/run-files.ts'
import { plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Blank, Loading, Notice } from '../../../ui/notice.tsx'

/** The files of a run whose path contains a text. */
export function FoundFiles({
  root,
  q,
  selected,
}: {
  root: RunFiles
  q: string
  selected: string | undefined
}) {
  const found = useQuery({
    ...runFolderQuery(root.agent_run_id, root.seq, { path: '', q }),
    placeholderData: previous => previous,
  })
  if (found.isError) return <Notice tone="bad">{visible(found.error.message)}</Notice>
  if (found.isPending) return <Loading label="Searching" />
  const { items, total, complete } = found.data
  if (total === 0) return <Blank icon={<ListX />} title="No file matches" />
  return (
    <section aria-label="Matching files">
      <p role="status" className="px-1.5 pb-1 text-2xs text-faint">
        {plural(total, 'file')} {total > items.length && `, the first ${items.length} are shown`}
        {!complete && ', and the repository has more paths than are searched'}
      </p>
      <ul>
        {items.map(({ path }) => (
          <li key={path}>
            <Link
              to="."
              search={previous => ({ ...previous, file: path })}
              hash
              aria-current={path === selected ? 'true' : undefined}
              className={`block min-h-6 rounded px-1.5 py-0.5 text-xs [overflow-wrap:anywhere] hover:bg-hover ${path === selected ? 'bg-accent/8' : ''}`}
            >
              <bdi>{visible(path)}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
