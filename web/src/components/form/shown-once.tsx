import type { ReactNode } from 'react'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'

type Props = { name: string; value: string; children: ReactNode; on_done: () => void }

/** A value that the service returns only once, such as a token or a link, with a button to copy it. */
export const ShownOnce = ({ name, value, children, on_done }: Props) => (
  <div className="space-y-4">
    <Notice tone="warn">{children}</Notice>
    <div className="flex items-start gap-1 rounded-md border border-line bg-sunken py-1.5 pr-1.5 pl-2.5">
      <output
        aria-label={name}
        className="min-w-0 flex-1 select-all py-1 font-mono text-xs [overflow-wrap:anywhere]"
      >
        {visible(value)}
      </output>
      <CopyButton label={`Copy the ${name}`} text={() => value} />
    </div>
    <div className="flex justify-end">
      <Button variant="primary" onClick={on_done}>
        Done
      </Button>
    </div>
  </div>
)
