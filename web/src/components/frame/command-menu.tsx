import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { Key } from '../../ui/key.tsx'
import { CommandInput } from './command-input.tsx'
import { type Command, useCommands } from './commands.tsx'
import { foundRunsQuery } from './found-runs.ts'

/** `entered`: Enter was pressed before the menu was loaded. */
type Props = {
  typed: string
  on_type: (text: string) => void
  entered: boolean
  on_close: () => void
  on_keys: () => void
}

/** Finds runs by number or text, pages, repositories and actions. Arrows choose, Enter executes. */
export default function CommandMenu({ typed, on_type, entered, on_close, on_keys }: Props) {
  const [chosen, setChosen] = useState(0)
  const text = useDeferredValue(typed.trim())
  const runs = useQuery({ ...foundRunsQuery(text), placeholderData: keepPreviousData })
  const groups = useCommands(text, runs.data ?? [], on_keys)
  const all = groups.flatMap(({ commands }) => commands)
  const current = all[Math.min(chosen, all.length - 1)]
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  })
  const execute = (command: Command | undefined) => {
    if (!command) return
    on_close()
    command.execute()
  }
  // Enter counts for what is typed, whose commands may be shown a moment later.
  const [entering, setEntering] = useState(entered)
  useEffect(() => {
    if (!entering || text !== typed.trim()) return
    setEntering(false)
    execute(current)
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') setEntering(true)
    else if (step)
      setChosen(old => (Math.min(old, all.length - 1) + step + all.length) % Math.max(1, all.length))
    else return
    event.preventDefault()
  }
  return (
    <div>
      <CommandInput
        role="combobox"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={current && `${id}-${current.id}`}
        typed={typed}
        on_type={text => {
          on_type(text)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="Results"
        tabIndex={-1}
        className="max-h-[min(26rem,60dvh)] overflow-y-auto p-1.5"
      >
        {groups.map(({ title, commands }) => (
          <Group key={title} title={title}>
            {commands.map(command => (
              <Option
                key={command.id}
                id={`${id}-${command.id}`}
                command={command}
                selected={command === current}
                on_execute={execute}
              />
            ))}
          </Group>
        ))}
        {all.length === 0 && (
          <p className="px-2.5 py-6 text-center text-faint">
            {runs.isFetching ? 'Searching…' : 'Nothing matches'}
          </p>
        )}
      </div>
    </div>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={title} className="mb-1">
      <div aria-hidden className="px-2.5 pt-1.5 pb-1 text-2xs text-faint">
        {title}
      </div>
      {children}
    </div>
  )
}

type OptionProps = { id: string; command: Command; selected: boolean; on_execute: (command: Command) => void }

function Option({ id, command, selected, on_execute }: OptionProps) {
  const { icon, text, note, keys } = command
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the keys of an option are handled by the input, which keeps the focus
    <div
      role="option"
      id={id}
      aria-selected={selected}
      onClick={() => on_execute(command)}
      className="flex min-h-8 cursor-pointer items-center gap-2.5 rounded-md px-2.5 hover:bg-hover aria-selected:bg-hover max-md:min-h-10"
    >
      <span aria-hidden className="shrink-0 text-faint [&>svg]:size-4">
        {icon}
      </span>
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {note && <span className="shrink-0 text-faint text-xs">{note}</span>}
      {keys && <Key>{keys}</Key>}
    </div>
  )
}
