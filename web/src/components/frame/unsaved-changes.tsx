import { useBlocker } from '@tanstack/react-router'
import { createPortal } from 'react-dom'
import { ConfirmDialog } from '../form/confirm-dialog.tsx'

type Address = { pathname: string; search: object }

const viewIn = ({ search }: Address) => ('view' in search ? search.view : undefined)

/** Filters and positions in the address keep the form. Another page or another view of a run removes it. */
const removesForm = ({ current, next }: { current: Address; next: Address }) =>
  current.pathname !== next.pathname || viewIn(current) !== viewIn(next)

const nothing = () => {}

/**
 * While it is shown, leaving the page or the view needs a confirmation: by the browser, when it closes or
 * reloads the page.
 */
export function UnsavedChanges() {
  const {
    status,
    proceed = nothing,
    reset = nothing,
  } = useBlocker({ shouldBlockFn: removesForm, withResolver: true })
  // Outside the form, which cannot contain the form of the dialog.
  if (status !== 'blocked') return null
  return createPortal(
    <ConfirmDialog
      title="Discard your changes?"
      action="Discard changes"
      send={async () => proceed()}
      on_close={reset}
    >
      You have changed values that are not saved.
    </ConfirmDialog>,
    document.body,
  )
}
