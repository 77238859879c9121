import { type ReactNode, useState } from 'react'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Effects, useRequest } from './use-request.ts'

type Props<Result> = Effects<Result> & {
  title: string
  /** What happens, and what is lost. */
  children: ReactNode
  /** The text of the button: a verb and its object, such as "Delete repository". */
  action: string
  /** For what cannot be undone: the person types this name first. */
  typed_name?: string
  send: () => Promise<Result>
  on_close: () => void
}

/** Requests a confirmation of a dangerous action, executes it, and shows its error. Closes on success. */
export function ConfirmDialog<Result>(props: Props<Result>) {
  const { title, children, action, typed_name, send, on_close, on_done, ...effects } = props
  const [typed, setTyped] = useState('')
  const request = useRequest(send, {
    ...effects,
    on_done: async result => {
      await on_done?.(result)
      on_close()
    },
  })
  const reason =
    typed_name !== undefined && typed.trim() !== typed_name ? `Type ${visible(typed_name)} first` : null
  return (
    <Dialog title={title} on_close={on_close} discards_edits>
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
          <Button onClick={on_close}>Cancel</Button>
          <Button type="submit" variant="danger" reason={reason} busy={request.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
