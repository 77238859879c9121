import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { numberAt, objectsAt, textAt } from '../../trace/fields.ts'

const styles: Record<string, { Icon: typeof Info; color: string; word: string }> = {
  error: { Icon: CircleAlert, color: 'text-bad', word: 'error' },
  warning: { Icon: TriangleAlert, color: 'text-warn', word: 'warning' },
}
const note_style = { Icon: Info, color: 'text-faint', word: 'note' }

/** The findings of an evaluation, with their positions in files where they have one. */
export function Findings({ observation }: { observation: unknown }) {
  const findings = objectsAt(observation, 'findings')
  const more = (numberAt(observation, 'findings_total') ?? findings.length) - findings.length
  return (
    <ul className="space-y-0.5 text-xs">
      {findings.map((finding, index) => {
        const { Icon, color, word } = styles[textAt(finding, 'severity') ?? ''] ?? note_style
        const [path, line] = [textAt(finding, 'path'), numberAt(finding, 'line')]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the findings of an entry never change their order
          <li key={index} className="flex items-start gap-2">
            <Icon aria-label={word} className={`mt-0.5 size-3.5 shrink-0 ${color}`} />
            <span className="[overflow-wrap:anywhere]">
              {path !== null && (
                <code className="text-muted">{visible(`${path}${line === null ? '' : `:${line}`}`)} </code>
              )}
              {visible(textAt(finding, 'body') ?? '')}
            </span>
          </li>
        )
      })}
      {more > 0 && <li className="text-faint">and {more} more</li>}
    </ul>
  )
}
