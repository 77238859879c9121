import { X } from 'lucide-react'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { IconButton } from './icon-button.tsx'

/**
 * `dialog`: in the middle, with its title. `palette`: near the top, its content only. `drawer`: the left edge
 * of a narrow screen.
 */
type Kind = 'dialog' | 'palette' | 'drawer'

const styles: Record<Kind, string> = {
  dialog: 'm-auto w-[min(36rem,calc(100vw-2rem))] rounded-xl border border-line',
  palette: 'mx-auto mt-[12dvh] w-[min(38rem,calc(100vw-1rem))] rounded-xl border border-line',
  drawer: 'm-0 h-dvh max-h-dvh w-[min(18rem,85vw)] border-line border-r',
}

type Props = {
  title: string
  on_close: () => void
  kind?: Kind
  /** Whether what is typed is lost without a question when the dialog is closed. */
  discards_edits?: boolean
  children: ReactNode
}

const FIELD = ':is(input, select, textarea):not(:disabled)'

/**
 * The browser's own modal dialog, open while it is rendered: it traps the focus, begins in its first field
 * and returns it, and Escape or a click beside it closes it, after a question when values were changed.
 */
export function Dialog({
  title,
  on_close,
  kind = 'dialog',
  discards_edits = kind !== 'dialog',
  children,
}: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  /** The field that was changed last. One that is no longer shown was saved. */
  const edited = useRef<HTMLElement>(null)
  const [asks, setAsks] = useState(false)
  // Closed before it leaves the document: only then the browser returns the focus.
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    // The browser focuses the first control, which is the button that closes it.
    if (kind === 'dialog') dialog?.querySelector<HTMLElement>(FIELD)?.focus()
    return () => dialog?.close()
  }, [kind])
  const mustAsk = () => !discards_edits && edited.current?.isConnected === true
  const requestClose = () => (mustAsk() ? setAsks(true) : on_close())
  const edit = () => {
    setAsks(false)
    edited.current?.focus()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes the dialog on Escape
    <dialog
      ref={ref}
      // React's strict mode closes and opens it again before the event arrives.
      onClose={() => !ref.current?.open && on_close()}
      onCancel={event => {
        // A file picker that is closed sends the event too.
        if (event.target !== event.currentTarget || !mustAsk()) return
        event.preventDefault()
        if (asks) edit()
        else setAsks(true)
      }}
      onInput={({ target }) => {
        if (target instanceof HTMLElement) edited.current = target
      }}
      // The box has no padding: a click that meets the element itself is beside it.
      onClick={event => event.target === event.currentTarget && requestClose()}
      aria-label={title}
      className={`bg-surface p-0 text-ink shadow-2xl backdrop:bg-black/40 ${styles[kind]}`}
    >
      {kind !== 'dialog' && children}
      {kind === 'dialog' && (
        <>
          <div className="flex items-center justify-between border-line border-b px-4 py-2.5">
            <h2 className="text-base font-semibold">{title}</h2>
            <IconButton label="Close" onClick={requestClose}>
              <X className="size-4" />
            </IconButton>
          </div>
          <div className="p-4">{children}</div>
          {asks && <DiscardQuestion on_continue={edit} on_discard={on_close} />}
        </>
      )}
    </dialog>
  )
}

const DiscardQuestion = ({
  on_continue,
  on_discard,
}: {
  on_continue: () => void
  on_discard: () => void
}) => (
  <div
    role="alert"
    className="sticky bottom-0 flex flex-wrap items-center justify-end gap-2 border-line border-t bg-surface px-4 py-3"
  >
    <p className="mr-auto">You have changed values that are not saved.</p>
    <Button autoFocus onClick={on_continue}>
      Continue editing
    </Button>
    <Button variant="danger" onClick={on_discard}>
      Discard changes
    </Button>
  </div>
)
