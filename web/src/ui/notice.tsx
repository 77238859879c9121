import { CircleAlert, Info, LoaderCircle, Lock, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const styles = {
  info: ['border-line bg-surface', 'text-muted', Info],
  warn: ['border-warn/40 bg-warn/8', 'text-warn', TriangleAlert],
  bad: ['border-bad/40 bg-bad/8', 'text-bad', CircleAlert],
} as const

/** A remark inside a page. `bad` ones are announced. */
export function Notice({
  tone = 'info',
  children,
  action,
}: {
  tone?: keyof typeof styles
  children: ReactNode
  action?: ReactNode
}) {
  const [box, color, Icon] = styles[tone]
  return (
    <div
      role={tone === 'bad' ? 'alert' : undefined}
      className={`flex items-start gap-2.5 rounded-lg border px-3 py-2.5 text-sm ${box}`}
    >
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${color}`} />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">{children}</div>
      {action}
    </div>
  )
}

/** The content of a page or pane that has nothing else to show. `level` 1: it is the whole page. */
export function Blank({
  icon,
  title,
  level = 2,
  children,
}: {
  icon?: ReactNode
  title: string
  level?: 1 | 2
  children?: ReactNode
}) {
  const Heading = level === 1 ? 'h1' : 'h2'
  return (
    <div className="mx-auto flex max-w-lg flex-col items-center px-6 py-14 text-center">
      {icon && <div className="mb-3 text-faint [&>svg]:size-7">{icon}</div>}
      <Heading className="text-lg font-semibold">{title}</Heading>
      <div className="mt-2 text-sm text-muted">{children}</div>
    </div>
  )
}

export const Forbidden = ({ children }: { children: ReactNode }) => (
  <Blank icon={<Lock />} title="You do not have access">
    {children}
  </Blank>
)

export const Loading = ({ label = 'Loading' }: { label?: string }) => (
  <div role="status" className="late flex items-center justify-center gap-2 p-8 text-sm text-faint">
    <LoaderCircle aria-hidden className="size-4 animate-spin" /> {label}…
  </div>
)
