import type { ReactNode } from 'react'
import { Menu, MenuItem } from '../../../ui/menu.tsx'
import type { RunCommand } from './use-run-commands.tsx'

type Props = { commands: RunCommand[]; button: { label: string; className: string; trigger: ReactNode } }

/** The actions on a run as a menu. */
export default function RunMenu({ commands, button }: Props): ReactNode {
  return (
    <Menu {...button} align="end" at_once>
      {commands.map(({ label, icon, reason, busy = false, danger = false, start }) => (
        <MenuItem
          key={label}
          icon={icon}
          danger={danger}
          reason={busy ? 'In progress' : reason}
          on_select={start}
        >
          {label}
        </MenuItem>
      ))}
    </Menu>
  )
}
