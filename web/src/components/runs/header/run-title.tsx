import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { useRunActions } from '../run-actions.ts'

/** The title, editable inline. Enter saves, Escape restores it. */
export function RunTitle({ run, forbidden }: { run: AgentRun; forbidden: string | null }) {
  const { update } = useRunActions(run)
  const [typed, setTyped] = useState<string | null>(null)
  const save = () => {
    const title = typed?.trim()
    if (!title || title === run.title) return setTyped(null)
    update.mutate({ title }, { onSuccess: () => setTyped(null) })
  }
  if (typed === null) {
    return (
      <div className="flex min-w-0 items-center gap-1">
        <h1
          className="line-clamp-2 font-semibold text-base [overflow-wrap:anywhere] sm:line-clamp-1"
          title={visible(run.title)}
        >
          {visible(run.title)}
        </h1>
        <IconButton label="Rename" reason={forbidden} onClick={() => setTyped(run.title)}>
          <Pencil className="size-3.5" />
        </IconButton>
      </div>
    )
  }
  return (
    <form
      className="flex min-w-0 flex-1 items-center gap-2"
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      <Input
        aria-label="Title"
        value={typed}
        maxLength={200}
        autoFocus
        aria-invalid={update.isError || undefined}
        title={update.error ? visible(update.error.message) : undefined}
        onChange={event => setTyped(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && setTyped(null)}
      />
      <Button type="submit" busy={update.isPending}>
        Save
      </Button>
    </form>
  )
}
