import type { ReactNode } from 'react'

const looks = {
  neutral: 'border-line text-muted bg-surface',
  ok: 'border-ok/35 text-ok bg-ok/8',
  bad: 'border-bad/35 text-bad bg-bad/8',
  warn: 'border-warn/40 text-warn bg-warn/8',
  accent: 'border-accent/35 text-accent bg-accent/8',
  hold: 'border-hold/35 text-hold bg-hold/8',
} as const

export type BadgeTone = keyof typeof looks

/** A word or two in a frame. Its tone never says anything that the words do not. */
export function Badge({
  tone = 'neutral',
  children,
  title,
  className = '',
}: {
  tone?: BadgeTone
  children: ReactNode
  title?: string
  className?: string
}) {
  return (
    <span
      title={title}
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded-full border px-2 font-medium text-2xs whitespace-nowrap ${looks[tone]} ${className}`}
    >
      {children}
    </span>
  )
}
