import { type ReactNode, useState } from 'react'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

type Props = {
  title: string
  /** What happens, and what is lost. */
  children: ReactNode
  /** The text of the button: a verb and its object, such as "Delete repository". */
  action: string
  /** For what cannot be undone: the person types this name first. */
  typed_name?: string
  request: { isPending: boolean; error: Error | null; mutate(): void; reset(): void }
  open: boolean
  on_close: () => void
}

/**
 * Requests a confirmation of a dangerous action, executes it, and shows its error. The caller closes it on
 * success.
 */
export function ConfirmDialog({ title, children, action, typed_name, request, open, on_close }: Props) {
  const [typed, setTyped] = useState('')
  const reason =
    typed_name !== undefined && typed.trim() !== typed_name ? `Type ${visible(typed_name)} first` : null
  const close = () => {
    setTyped('')
    request.reset()
    on_close()
  }
  return (
    <Dialog title={title} open={open} on_close={close} discards_edits>
      <form
        className="space-y-4"
        onSubmit={event => {
          event.preventDefault()
          if (!reason && !request.isPending) request.mutate()
        }}
      >
        <div className="text-muted">{children}</div>
        {typed_name !== undefined && (
          <Field
            label={
              <>
                Type <strong className="select-all font-mono text-ink">{visible(typed_name)}</strong> to
                confirm
              </>
            }
          >
            {props => (
              <Input
                {...props}
                value={typed}
                spellCheck={false}
                autoFocus
                onChange={event => setTyped(event.target.value)}
              />
            )}
          </Field>
        )}
        {request.error && <Notice tone="bad">{visible(request.error.message)}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="danger" reason={reason} busy={request.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
