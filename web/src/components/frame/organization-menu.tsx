import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { session } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../../ui/menu.tsx'
import { NewOrganization } from './new-organization.tsx'

type Props = {
  organizations: { id: number; name: string }[]
  current: number | null
  className: string
  children: ReactNode
}

/**
 * The organizations of the person. Choosing another one reloads the page, because everything on it, streams
 * too, belongs to the other one.
 */
export default function OrganizationMenu({ organizations, current, className, children }: Props) {
  const navigate = useNavigate()
  const role = useQuery(meQuery).data?.role
  const [creating, setCreating] = useState(false)
  const choose = (id: number) => {
    if (id === current) return
    session.choose(id)
    location.assign('/')
  }
  return (
    <>
      <Menu label="Organization" className={className} trigger={children} at_once>
        <MenuLabel>Organizations</MenuLabel>
        <MenuChoice
          value={String(current ?? '')}
          options={organizations.map(({ id, name }) => ({ value: String(id), text: visible(name) }))}
          on_choose={value => choose(Number(value))}
        />
        <MenuSeparator />
        <MenuItem on_select={() => navigate({ to: '/settings' })}>Organization settings</MenuItem>
        <MenuItem
          reason={
            role === undefined || role === 'ADMIN' ? null : `Your role, ${role}, may not create organizations`
          }
          on_select={() => setCreating(true)}
        >
          New organization…
        </MenuItem>
      </Menu>
      {creating && (
        <Dialog title="New organization" on_close={() => setCreating(false)}>
          <NewOrganization on_created={choose} />
        </Dialog>
      )}
    </>
  )
}
