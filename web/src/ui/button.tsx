import type { ComponentProps, MouseEvent, ReactNode } from 'react'

type Variant = 'primary' | 'plain' | 'quiet' | 'danger'

const styles: Record<Variant, string> = {
  primary: 'bg-ink text-canvas border-transparent hover:opacity-90',
  plain: 'bg-surface text-ink border-line hover:bg-hover hover:border-strong',
  quiet: 'border-transparent text-muted hover:text-ink hover:bg-hover',
  danger: 'bg-surface border-line text-bad hover:border-bad',
}

/** The style of a button, for links that act like one. */
export const buttonStyle = (variant: Variant = 'plain', extra = '') =>
  `inline-flex items-center justify-center gap-1.5 h-7 min-w-7 px-2.5 rounded-md border text-sm font-medium whitespace-nowrap select-none transition-colors ${styles[variant]} ${extra}`

type Props = Omit<ComponentProps<'button'>, 'disabled'> & {
  variant?: Variant
  /**
   * Why the button is disabled. It stays in the tab order and shows the reason; null or undefined: enabled.
   */
  reason?: string | null
  busy?: boolean
  /** The tooltip; a `reason` takes precedence. */
  hint?: string
  children: ReactNode
}

export function Button({
  variant = 'plain',
  reason,
  busy,
  hint,
  className = '',
  onClick,
  children,
  type = 'button',
  ...rest
}: Props) {
  const off = Boolean(reason) || busy
  return (
    <button
      {...rest}
      type={type}
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      aria-description={reason ?? undefined}
      data-hint={reason ?? hint}
      onClick={off ? (event: MouseEvent) => event.preventDefault() : onClick}
      className={buttonStyle(variant, `${off ? 'opacity-55 cursor-not-allowed!' : ''} ${className}`)}
    >
      {children}
    </button>
  )
}
