import { Check, Copy, TriangleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from './copy.ts'
import { IconButton } from './icon-button.tsx'

type Outcome = 'none' | 'copied' | 'failed'
const labels: Record<Outcome, string | null> = {
  none: null,
  copied: 'Copied',
  failed: 'The browser refused to copy',
}

/** Copies what `text` returns, and confirms it for two seconds. */
export function CopyButton({
  label,
  text,
  icon,
}: {
  label: string
  text: () => string
  icon?: React.ReactNode
}) {
  const [outcome, setOutcome] = useState<Outcome>('none')
  useEffect(() => {
    if (outcome === 'none') return
    const timer = setTimeout(() => setOutcome('none'), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  return (
    <IconButton
      label={labels[outcome] ?? label}
      onClick={async () => setOutcome((await copyText(text())) ? 'copied' : 'failed')}
    >
      {outcome === 'none' && (icon ?? <Copy className="size-3.5" />)}
      {outcome === 'copied' && <Check className="size-3.5 text-ok" />}
      {outcome === 'failed' && <TriangleAlert className="size-3.5 text-warn" />}
    </IconButton>
  )
}
