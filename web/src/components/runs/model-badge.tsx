import { ScrollText } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'

export const isScripted = (model: string) => model.startsWith('scripted/')

/** The model of a run. A scripted model is marked everywhere. */
export function ModelBadge({ model }: { model: string }) {
  if (!isScripted(model)) return <span className="font-mono text-2xs">{visible(model)}</span>
  return (
    <Badge tone="paused" title={`${visible(model)}: scripted, not a language model`}>
      <ScrollText aria-hidden className="size-3" /> scripted
    </Badge>
  )
}
