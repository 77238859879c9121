import type { ReactNode } from 'react'

const styles = {
  neutral: 'border-line text-muted bg-surface',
  ok: 'border-ok/35 text-ok bg-ok/8',
  bad: 'border-bad/35 text-bad bg-bad/8',
  warn: 'border-warn/40 text-warn bg-warn/8',
  accent: 'border-accent/35 text-accent bg-accent/8',
  paused: 'border-paused/35 text-paused bg-paused/8',
} as const

export type BadgeTone = keyof typeof styles

/** One or two words in a frame. Its tone never carries information that the words do not. */
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
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded-full border px-2 font-medium text-2xs whitespace-nowrap ${styles[tone]} ${className}`}
    >
      {children}
    </span>
  )
}
