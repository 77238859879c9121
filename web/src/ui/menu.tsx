import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { createContext, type ReactNode, type RefObject, use, useEffect, useRef, useState } from 'react'

const MenuButton = createContext<RefObject<HTMLButtonElement | null> | null>(null)

type MenuProps = {
  label: string
  trigger: ReactNode
  className?: string
  align?: 'start' | 'end'
  /** Whether it opens at once: its button was pressed before its code was loaded. */
  at_once?: boolean
  children: ReactNode
}

/**
 * A menu that opens below its button. `label` names the menu, and the button if `trigger` is an icon. Not
 * modal: the policy of the page allows no style elements, which a modal menu of Radix adds to lock the
 * scrolling.
 */
export function Menu({
  label,
  trigger,
  className = '',
  align = 'start',
  at_once = false,
  children,
}: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [container, setContainer] = useState<HTMLElement | null>(null)
  const [open, setOpen] = useState(false)
  // Rendered inside the dialog or landmark of its button: outside of an open dialog of the browser nothing
  // can be reached.
  const change = (next: boolean) => {
    if (next) setContainer(button.current?.closest<HTMLElement>('dialog, aside, header, main') ?? null)
    setOpen(next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only at the beginning
  useEffect(() => {
    if (at_once) change(true)
  }, [])
  return (
    <DropdownMenu.Root modal={false} open={open} onOpenChange={change}>
      <DropdownMenu.Trigger ref={button} className={className}>
        <span className="sr-only">{label}: </span>
        {trigger}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={container}>
        <DropdownMenu.Content
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-40 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-sm shadow-lg"
        >
          <MenuButton value={button}>{children}</MenuButton>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

const item_style =
  'flex min-h-7 cursor-pointer select-none items-center gap-2 rounded-md px-2 outline-none data-highlighted:bg-hover max-md:min-h-10 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-faint'

type ItemProps = {
  icon?: ReactNode
  danger?: boolean
  reason?: string | null
  on_select: () => void
  children: ReactNode
}

/** `reason`: why the item cannot be chosen. It is shown below its text. */
export function MenuItem({ icon, danger = false, reason = null, on_select, children }: ItemProps) {
  const button = use(MenuButton)
  return (
    <DropdownMenu.Item
      disabled={reason !== null}
      onSelect={() => {
        // A dialog returns the focus to what had it when it opened, which must outlive the menu.
        button?.current?.focus()
        on_select()
      }}
      className={`${item_style} ${danger ? 'text-bad' : ''} data-disabled:cursor-not-allowed`}
    >
      {icon}
      <span className={reason === null ? '' : 'py-1 text-faint'}>
        {children}
        {reason !== null && <span className="block text-2xs">{reason}</span>}
      </span>
    </DropdownMenu.Item>
  )
}

type ChoiceProps = {
  value: string
  options: { value: string; text: string }[]
  on_choose: (value: string) => void
}

/** Items of which one is chosen. */
export const MenuChoice = ({ value, options, on_choose }: ChoiceProps) => (
  <DropdownMenu.RadioGroup value={value} onValueChange={on_choose}>
    {options.map(option => (
      <DropdownMenu.RadioItem key={option.value} value={option.value} className={item_style}>
        <span className="min-w-0 flex-1 truncate">{option.text}</span>
        <DropdownMenu.ItemIndicator>
          <Check aria-hidden className="size-4 text-ink" />
        </DropdownMenu.ItemIndicator>
      </DropdownMenu.RadioItem>
    ))}
  </DropdownMenu.RadioGroup>
)

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Label className="px-2 py-1 text-2xs text-faint">{children}</DropdownMenu.Label>
)

export const MenuSeparator = () => <DropdownMenu.Separator className="my-1 h-px bg-line" />
