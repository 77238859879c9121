import { Search } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Key } from '../../ui/key.tsx'

type Props = Omit<ComponentProps<'input'>, 'onChange' | 'value'> & {
  typed: string
  on_type: (text: string) => void
}

/** The field of the command menu. It takes what is typed before the rest of the menu is loaded. */
export const CommandInput = ({ typed, on_type, ...rest }: Props) => (
  <div className="flex items-center gap-2.5 border-line border-b px-4">
    <Search aria-hidden className="size-4 shrink-0 text-faint" />
    <input
      aria-label="Search and commands"
      autoComplete="off"
      spellCheck={false}
      // biome-ignore lint/a11y/noAutofocus: the person opened the menu to type here
      autoFocus
      maxLength={200}
      placeholder="A run by number or title, a page, an action"
      value={typed}
      onChange={event => on_type(event.target.value)}
      className="h-11 min-w-0 flex-1 bg-transparent text-base outline-none"
      {...rest}
    />
    <Key>Esc</Key>
  </div>
)
