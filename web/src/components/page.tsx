import { type ReactNode, useRef } from 'react'
import { visible } from '../text/visible.ts'
import { usePageScroll } from './use-page-scroll.ts'

/** All headings begin at the same edge, also those of narrow pages. */
const widths = { wide: '', narrow: 'max-w-3xl' } as const

type Props = {
  /**
   * The title of the browser's tab; `heading` if it is absent. Null: the content has its own, as the tabs of
   * a repository.
   */
  title?: string | null
  heading: string
  /** Beside the heading, for example the number of items. */
  note?: ReactNode
  about?: ReactNode
  actions?: ReactNode
  width?: keyof typeof widths
  children: ReactNode
}

/**
 * The scrolling content of the frame: heading, actions, and the rest. Every page but the trace is one. It is
 * positioned, so that hidden labels in it scroll with it and do not make the document taller.
 */
export function Page({ heading, title = heading, note, about, actions, width = 'wide', children }: Props) {
  const box = useRef<HTMLDivElement>(null)
  usePageScroll(box)
  return (
    <div ref={box} className="relative h-full scroll-pb-16 overflow-y-auto">
      {title !== null && <PageTitle>{title}</PageTitle>}
      <div className="mx-auto max-w-6xl px-4 py-5 md:px-6">
        <div className={widths[width]}>
          <div className="flex min-h-7 flex-wrap items-center gap-x-3 gap-y-2">
            <h1 className="min-w-0 font-semibold text-xl tracking-tight [overflow-wrap:anywhere]">
              {visible(heading)}
            </h1>
            {note !== undefined && <span className="tabular text-faint">{note}</span>}
            <div className="flex-1" />
            {actions && <div className="flex flex-wrap items-center gap-x-3 gap-y-2">{actions}</div>}
          </div>
          {about && <p className="mt-1 max-w-prose text-muted">{about}</p>}
          <div className="mt-4">{children}</div>
        </div>
      </div>
    </div>
  )
}

/** The title of the browser's tab. */
export const PageTitle = ({ children }: { children: string }) => (
  <title>{`${visible(children)} · Agent runs`}</title>
)
