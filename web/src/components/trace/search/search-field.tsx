import { ChevronDown, ChevronUp, List, Search, X } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react'
import { type LogSearch, rankOf } from '../../../trace/search/log-search.ts'
import { Input } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import type { SearchSteps } from './use-log-search.ts'

const TYPING_MS = 200

type Props = {
  box: RefObject<HTMLInputElement | null>
  q: string | undefined
  search: LogSearch | null
  /** The entry that is shown in its context, 0 in the list of matches. */
  seq: number
  steps: SearchSteps
  /** Moves the focus to the entries. */
  on_leave: () => void
}

/** The search field of a trace: the number of matches, and buttons that show them one after the other. */
export function SearchField({ box, q, search, seq, steps, on_leave }: Props) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (box.current && (document.activeElement !== box.current || q === undefined))
      box.current.value = q ?? ''
  }, [box, q])
  const submit = (text: string) => {
    clearTimeout(timer.current)
    const next = text.trim() || undefined
    if (next !== q) steps.change(next)
    return next
  }
  const clear = () => {
    if (box.current) box.current.value = ''
    submit('')
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Escape') {
      clear()
      event.currentTarget.blur()
      on_leave()
    } else if (event.key === 'Enter') {
      const text = submit(event.currentTarget.value)
      if (text !== undefined) steps.go(event.shiftKey ? 'previous' : 'next', text)
    } else return
    event.preventDefault()
  }
  return (
    <div className="flex shrink-0 items-center gap-1">
      <div className="relative w-32 2xl:w-48">
        <Search aria-hidden className="pointer-events-none absolute top-1.5 left-2 size-4 text-faint" />
        <Input
          ref={box}
          type="search"
          aria-label="Search the trace"
          placeholder="Search  /"
          maxLength={200}
          defaultValue={q}
          className="h-7! pl-7.5 [&::-webkit-search-cancel-button]:hidden"
          onKeyDown={onKeyDown}
          onChange={event => {
            const text = event.target.value
            clearTimeout(timer.current)
            timer.current = setTimeout(() => submit(text), TYPING_MS)
          }}
        />
      </div>
      {q !== undefined && (
        <>
          <span role="status" data-testid="match-count" className="tabular px-1 text-muted text-xs">
            {countOf(search, seq)}
          </span>
          <IconButton label="Previous match" onClick={() => steps.go('previous', q)}>
            <ChevronUp className="size-4" />
          </IconButton>
          <IconButton label="Next match" onClick={() => steps.go('next', q)}>
            <ChevronDown className="size-4" />
          </IconButton>
          {seq > 0 && (
            <IconButton label="List all matches" onClick={steps.list}>
              <List className="size-4" />
            </IconButton>
          )}
          <IconButton label="Clear the search" onClick={clear}>
            <X className="size-4" />
          </IconButton>
        </>
      )}
    </div>
  )
}

/** `2 of 4,312`, or the number of matches in the list of them. */
function countOf(search: LogSearch | null, seq: number): string {
  if (search === null) return 'Searching…'
  const { seqs, complete } = search
  if (seqs.length === 0) return complete ? 'No match' : search.problem === null ? 'Searching…' : ''
  const total = `${seqs.length.toLocaleString('en')}${complete ? '' : '+'}`
  const rank = rankOf(seqs, seq)
  if (seq > 0 && seqs[rank - 1] === seq) return `${rank.toLocaleString('en')} of ${total}`
  return `${total} ${total === '1' ? 'match' : 'matches'}`
}
