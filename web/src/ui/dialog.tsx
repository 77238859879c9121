import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { IconButton } from './icon-button.tsx'

/** The browser's own modal dialog: it traps the focus, and Escape closes it. */
export function Dialog({ title, open, on_close, children }: { title: string; open: boolean; on_close: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open && !ref.current?.open) ref.current?.showModal()
    if (!open) ref.current?.close()
  }, [open])
  return (
    <dialog
      ref={ref}
      onClose={on_close}
      aria-label={title}
      className="m-auto w-[min(32rem,calc(100vw-2rem))] rounded-xl border border-line bg-surface p-0 text-ink shadow-2xl backdrop:bg-black/40"
    >
      {open && (
        <>
          <div className="flex items-center justify-between border-line border-b px-4 py-2.5">
            <h2 className="text-base font-semibold">{title}</h2>
            <IconButton label="Close" onClick={on_close}>
              <X className="size-4" />
            </IconButton>
          </div>
          <div className="p-4">{children}</div>
        </>
      )}
    </dialog>
  )
}
