import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { visible } from '../../../text/visible.ts'

type Props = { tags: string[]; on_change: (tags: string[]) => void; problem: string | undefined }

/** Tags as chips. Enter or a comma adds what is typed, Backspace in the empty box removes the last. */
export function TagField({ tags, on_change, problem }: Props) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const add = () => {
    const added = typed.split(',').map(tag => tag.trim())
    on_change([...new Set([...tags, ...added.filter(Boolean)])])
    setTyped('')
  }
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-muted">
        Tags
      </label>
      <div
        className={`flex min-h-8 flex-wrap items-center gap-1 rounded-md border bg-surface px-1.5 py-0.5 has-disabled:opacity-60 focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/30 ${problem ? 'border-bad' : 'border-line'}`}
      >
        {tags.map(tag => (
          <span key={tag} className="inline-flex h-6 items-center gap-1 rounded bg-hover pr-0.5 pl-2 text-xs">
            {visible(tag)}
            <button
              type="button"
              aria-label={`Remove tag ${visible(tag)}`}
              className="inline-flex size-6 items-center justify-center rounded text-faint hover:text-ink"
              onClick={() => on_change(tags.filter(other => other !== tag))}
            >
              <X aria-hidden className="size-3" />
            </button>
          </span>
        ))}
        <input
          id={id}
          value={typed}
          autoComplete="off"
          placeholder={tags.length ? '' : 'Type a word and press Enter'}
          aria-invalid={problem ? true : undefined}
          className="h-6 min-w-24 flex-1 bg-transparent px-1 text-sm outline-none"
          onChange={event => setTyped(event.target.value)}
          onBlur={() => typed.trim() && add()}
          onKeyDown={event => {
            if (event.key === 'Backspace' && typed === '') on_change(tags.slice(0, -1))
            if (event.key !== 'Enter' && event.key !== ',') return
            event.preventDefault()
            if (typed.trim()) add()
          }}
        />
      </div>
      {problem && <p className="mt-1 text-bad text-xs">{problem}</p>}
    </div>
  )
}
