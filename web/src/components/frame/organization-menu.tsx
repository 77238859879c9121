import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { session } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../../ui/menu.tsx'

type Props = { organizations: { id: number; name: string }[]; current: number | null; className: string; children: ReactNode }

/** The organizations of the person. Choosing another one reloads the page, because everything on it, streams too, belongs to the other one. */
export default function OrganizationMenu({ organizations, current, className, children }: Props) {
  const navigate = useNavigate()
  const choose = (id: number) => {
    if (id === current) return
    session.choose(id)
    location.assign('/')
  }
  return (
    <Menu label="Organization" className={className} trigger={children}>
      <MenuLabel>Organizations</MenuLabel>
      <MenuChoice
        value={String(current ?? '')}
        options={organizations.map(({ id, name }) => ({ value: String(id), text: visible(name) }))}
        on_choose={value => choose(Number(value))}
      />
      <MenuSeparator />
      <MenuItem on_select={() => navigate({ to: '/settings' })}>Organization settings</MenuItem>
    </Menu>
  )
}
