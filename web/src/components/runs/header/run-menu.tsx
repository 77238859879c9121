import { Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonStyle } from '../../../ui/button.tsx'
import { Menu, MenuItem } from '../../../ui/menu.tsx'
import type { RunCommand } from './use-run-commands.tsx'

/** The actions on a run as a menu. */
export default function RunMenu({ commands }: { commands: RunCommand[] }): ReactNode {
  return (
    <Menu
      label="Actions of the run"
      align="end"
      className={buttonStyle('quiet', 'w-7 shrink-0 px-0! max-sm:h-9 max-sm:w-9')}
      trigger={<Ellipsis aria-hidden className="size-4" />}
    >
      {commands.map(({ label, icon, reason, busy = false, danger = false, start }) => (
        <MenuItem key={label} icon={icon} danger={danger} reason={busy ? 'In progress' : reason} on_select={start}>
          {label}
        </MenuItem>
      ))}
    </Menu>
  )
}
