import { Circle, CircleCheck, CircleDot } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { objectsAt, textAt } from '../../trace/fields.ts'

const styles: Record<string, { Icon: typeof Circle; color: string; word: string }> = {
  done: { Icon: CircleCheck, color: 'text-ok', word: 'done' },
  in_progress: { Icon: CircleDot, color: 'text-accent', word: 'in progress' },
}
const open = { Icon: Circle, color: 'text-faint', word: 'pending' }

/** The items of a plan with their state. */
export function PlanList({ observation }: { observation: unknown }) {
  const items = objectsAt(observation, 'plan')
  return (
    <ol className="space-y-0.5">
      {items.map((item, index) => {
        const { Icon, color, word } = styles[textAt(item, 'state') ?? ''] ?? open
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: ids of items come from the agent and may repeat
          <li key={index} className="flex items-start gap-2">
            <Icon aria-label={word} className={`mt-0.5 size-4 shrink-0 ${color}`} />
            <span className={`[overflow-wrap:anywhere] ${word === 'done' ? 'text-muted' : ''}`}>
              {visible(textAt(item, 'text') ?? '')}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
