import { lazy, Suspense, useState } from 'react'
import { CommandInput } from './command-input.tsx'

const CommandMenu = lazy(() => import('./command-menu.tsx'))

type Props = { on_close: () => void; on_keys: () => void }

/** The command menu. What is typed and entered while its code is loading counts. */
export function CommandPalette({ on_close, on_keys }: Props) {
  const [typed, setTyped] = useState('')
  const [entered, setEntered] = useState(false)
  const waiting = (
    <CommandInput
      typed={typed}
      on_type={setTyped}
      onKeyDown={({ key }) => key === 'Enter' && setEntered(true)}
    />
  )
  return (
    <Suspense fallback={waiting}>
      <CommandMenu typed={typed} on_type={setTyped} entered={entered} on_close={on_close} on_keys={on_keys} />
    </Suspense>
  )
}
