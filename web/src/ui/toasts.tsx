import { X } from 'lucide-react'
import { Toast } from 'radix-ui'
import { useSyncExternalStore } from 'react'
import { IconButton } from './icon-button.tsx'
import { currentMessages, dismiss, onMessages } from './toast.ts'

const SHOWN_MS = 5_000

/** Shows the messages of `notify`. Rendered once, by the frame. */
export default function Toasts() {
  const shown = useSyncExternalStore(onMessages, currentMessages)
  return (
    <Toast.Provider duration={SHOWN_MS} label="Message">
      {shown.map(({ id, text, tone }) => (
        <Toast.Root
          key={id}
          onOpenChange={open => !open && dismiss(id)}
          className="flex items-center gap-2 rounded-lg border border-line bg-surface py-1.5 pr-1.5 pl-3 shadow-lg"
        >
          <span aria-hidden className={`size-2 shrink-0 rounded-full ${tone === 'ok' ? 'bg-ok' : 'bg-bad'}`} />
          <Toast.Description className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</Toast.Description>
          <Toast.Close asChild>
            <IconButton label="Dismiss">
              <X className="size-4" />
            </IconButton>
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 outline-none" />
    </Toast.Provider>
  )
}
