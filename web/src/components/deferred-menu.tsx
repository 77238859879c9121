import { type KeyboardEvent, type ReactNode, Suspense, useState } from 'react'

type Props = {
  label: string
  trigger: ReactNode
  className: string
  /**
   * Loads the code of the menu. Called when the button gets the pointer or the focus, so that the menu opens
   * at once.
   */
  load: () => Promise<unknown>
  /** The menu with the same button, which opens at once. */
  children: ReactNode
}

/** The button of a menu whose code is loaded when somebody is about to use it. */
export function DeferredMenu({ label, trigger, className, load, children }: Props) {
  const [used, setUsed] = useState(false)
  const prepare = () => void load().catch(() => {})
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      className={className}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={() => setUsed(true)}
      onKeyDown={(event: KeyboardEvent) => event.key === 'ArrowDown' && setUsed(true)}
    >
      <span className="sr-only">{label}: </span>
      {trigger}
    </button>
  )
  return used ? <Suspense fallback={button}>{children}</Suspense> : button
}
