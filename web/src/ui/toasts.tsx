import { X } from 'lucide-react'
import { Toast } from 'radix-ui'
import { useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { IconButton } from './icon-button.tsx'
import { currentMessages, dismiss, onMessages } from './toast.ts'

const SHOWN_MS = 5_000

/** The open modal dialog, outside of which nothing can be seen or reached; without one the page. */
const currentLayer = () => [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body

/**
 * Calls the listener when a dialog was opened or closed, until the result is called. Neither event bubbles.
 */
function onLayers(listener: () => void): () => void {
  for (const name of ['toggle', 'close']) document.addEventListener(name, listener, true)
  return () => {
    for (const name of ['toggle', 'close']) document.removeEventListener(name, listener, true)
  }
}

/** Shows the messages of `notify`. Rendered once, by the frame. */
export default function Toasts() {
  const layer = useSyncExternalStore(onLayers, currentLayer)
  const shown = useSyncExternalStore(onMessages, currentMessages)
  return (
    <Toast.Provider duration={SHOWN_MS} label="Message">
      {shown.map(({ id, text, tone }) => (
        <Toast.Root
          key={id}
          onOpenChange={open => !open && dismiss(id)}
          className="flex items-center gap-2 rounded-lg border border-line bg-surface py-1.5 pr-1.5 pl-3 shadow-lg"
        >
          <span
            aria-hidden
            className={`size-2 shrink-0 rounded-full ${tone === 'ok' ? 'bg-ok' : 'bg-bad'}`}
          />
          <Toast.Description className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</Toast.Description>
          <Toast.Close asChild>
            <IconButton label="Dismiss">
              <X className="size-4" />
            </IconButton>
          </Toast.Close>
        </Toast.Root>
      ))}
      {createPortal(
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 outline-none" />,
        layer,
      )}
    </Toast.Provider>
  )
}
