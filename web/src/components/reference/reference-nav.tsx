import { Link, useNavigate } from '@tanstack/react-router'
import { type RefObject, useState } from 'react'
import { type Chapter, searchChapters } from '../../reference/chapters.ts'
import { plural } from '../../text/format.ts'
import { FilterBox } from '../../ui/filter-box.tsx'
import { StatusLine } from '../../ui/status-line.tsx'
import { MethodMark } from './method-mark.tsx'

type Props = { chapters: Chapter[]; box: RefObject<HTMLInputElement | null> }

/** All operations by chapter, and a search. Enter in the search opens the first that is found. */
export function ReferenceNav({ chapters, box }: Props) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const found = searchChapters(chapters, text)
  const count = found.reduce((sum, chapter) => sum + chapter.entries.length, 0)
  return (
    <nav aria-label="Operations" className="flex flex-col gap-3 p-3">
      <search>
        <form
          onSubmit={event => {
            event.preventDefault()
            const [first] = searchChapters(chapters, box.current?.value ?? '')[0]?.entries ?? []
            if (first) void navigate({ to: '/docs', hash: first.id })
          }}
        >
          <FilterBox
            box={box}
            label="Search operations"
            placeholder="Search  /"
            value={text}
            on_text={value => setText(value ?? '')}
            className=""
          />
        </form>
      </search>
      <StatusLine message={text === '' ? '' : `${plural(count, 'operation')} found`} />
      {found.length === 0 && <p className="px-1 text-muted text-xs">No operation matches.</p>}
      {found.map(chapter => (
        <section key={chapter.name} aria-label={chapter.name}>
          <h2 className="px-1 pb-0.5 font-medium text-2xs text-faint uppercase tracking-wide">
            {chapter.name}
          </h2>
          <ul>
            {chapter.entries.map(({ id, method, operation }) => (
              <li key={id}>
                <Link
                  to="/docs"
                  hash={id}
                  activeOptions={{ includeHash: true }}
                  className="flex min-h-7 items-center gap-1 rounded-md px-1 py-0.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:text-ink"
                >
                  <MethodMark method={method} />
                  <span className="min-w-0 text-xs">{operation.summary}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
