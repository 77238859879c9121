import type { ComponentProps, MouseEvent, ReactNode } from 'react'

type Variant = 'primary' | 'plain' | 'quiet' | 'danger'

const looks: Record<Variant, string> = {
  primary: 'bg-ink text-canvas border-transparent hover:opacity-90',
  plain: 'bg-surface text-ink border-line hover:bg-hover hover:border-strong',
  quiet: 'border-transparent text-muted hover:text-ink hover:bg-hover',
  danger: 'bg-surface border-line text-bad hover:border-bad',
}

/** The look of a button, for links that act like one. */
export const buttonLook = (variant: Variant = 'plain', extra = '') =>
  `inline-flex items-center justify-center gap-1.5 h-7 min-w-7 px-2.5 rounded-md border text-sm font-medium whitespace-nowrap select-none transition-colors ${looks[variant]} ${extra}`

type Props = Omit<ComponentProps<'button'>, 'disabled'> & {
  variant?: Variant
  /** Why it cannot be used now. The button stays in the tab order and says so; null or undefined: it can. */
  reason?: string | null
  busy?: boolean
  /** Shown when it is pointed at; a reason goes before it. */
  hint?: string
  children: ReactNode
}

export function Button({ variant = 'plain', reason, busy, hint, className = '', onClick, children, type = 'button', ...rest }: Props) {
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
      className={buttonLook(variant, `${off ? 'opacity-55 cursor-not-allowed!' : ''} ${className}`)}
    >
      {children}
    </button>
  )
}
