import { MoreHorizontal } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonStyle } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'

/** The actions of one row of a table. `label` names the row, because several such buttons are on a page. */
export const RowMenu = ({ label, children }: { label: string; children: ReactNode }) => (
  <Menu
    label={label}
    align="end"
    trigger={<MoreHorizontal aria-hidden className="size-4" />}
    className={buttonStyle('quiet', 'relative w-7 px-0!')}
  >
    {children}
  </Menu>
)
