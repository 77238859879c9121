import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { ChevronsUpDown, Plus, Search } from 'lucide-react'
import { lazy } from 'react'
import { currentOrganizationQuery, meQuery, organizationsQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Key } from '../../ui/key.tsx'
import { Brand } from '../brand.tsx'
import { DeferredMenu } from '../deferred-menu.tsx'
import { NewRunLink } from '../new-run-link.tsx'
import { command_key } from './keys.ts'
import { navigation, secondary_navigation } from './navigation.ts'

const loadOrganizationMenu = () => import('./organization-menu.tsx')
const loadAccountMenu = () => import('./account-menu.tsx')
const OrganizationMenu = lazy(loadOrganizationMenu)
const AccountMenu = lazy(loadAccountMenu)

type Props = { on_search: () => void; on_keys: () => void }

/** The navigation: organization, search, pages, and the person who is signed in. */
export function Sidebar({ on_search, on_keys }: Props) {
  return (
    <aside aria-label="Sidebar" className="flex h-full flex-col bg-sunken">
      <div className="p-2 pb-1">
        <OrganizationRow />
      </div>
      <div className="space-y-1.5 px-2 pb-2">
        <button
          type="button"
          onClick={on_search}
          className="flex h-7 w-full items-center gap-2 rounded-md border border-line bg-surface px-2 text-faint text-sm hover:border-strong"
        >
          <Search aria-hidden className="size-3.5" /> <span className="flex-1 text-left">Search</span>
          <span className="max-lg:hidden">
            <Key>{command_key}+K</Key>
          </span>
        </button>
        <NewRunLink variant="primary" className="w-full">
          <Plus aria-hidden className="size-4" /> New run
        </NewRunLink>
      </div>
      <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col overflow-y-auto px-2 pb-2">
        <ul className="space-y-px">
          {navigation.map(item => (
            <NavigationItem key={item.name} item={item} />
          ))}
        </ul>
        <div className="min-h-4 flex-1" />
        <ul className="space-y-px">
          {secondary_navigation.map(item => (
            <NavigationItem key={item.name} item={item} />
          ))}
        </ul>
      </nav>
      <div className="border-line border-t p-2">
        <AccountRow on_keys={on_keys} />
      </div>
    </aside>
  )
}

type Item = (typeof navigation)[number] | (typeof secondary_navigation)[number]

/** A run, the form for a new one and the comparison of two belong to the list of runs. */
const belongs = (path: string, to: string) =>
  to === '/' ? /^\/($|new$|compare$|agent\/)/.test(path) : path === to || path.startsWith(`${to}/`)

function NavigationItem({ item: { name, Icon, link } }: { item: Item }) {
  const active = useLocation({ select: ({ pathname }) => belongs(pathname, link.to) })
  return (
    <li>
      <Link
        {...link}
        data-active={active || undefined}
        className="flex h-7 items-center gap-2.5 rounded-md px-2 text-muted text-sm hover:bg-hover hover:text-ink data-active:bg-hover data-active:font-medium data-active:text-ink max-lg:h-10"
      >
        <Icon aria-hidden className="size-4 shrink-0" /> {name}
      </Link>
    </li>
  )
}

const row_style = 'flex h-9 w-full min-w-0 items-center gap-2.5 rounded-md px-2 text-left hover:bg-hover'

/** The current organization. Its menu switches to another one. */
function OrganizationRow() {
  const organizations = useQuery(organizationsQuery).data?.items ?? []
  const current = useQuery(currentOrganizationQuery).data
  const organization = organizations.find(({ id }) => id === current)
  const label = (
    <>
      <Brand />
      <span className="min-w-0 flex-1 truncate font-semibold">
        {organization ? visible(organization.name) : 'Agent runs'}
      </span>
      <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-faint" />
    </>
  )
  return (
    <DeferredMenu label="Organization" trigger={label} className={row_style} load={loadOrganizationMenu}>
      <OrganizationMenu
        organizations={organizations}
        current={organization?.id ?? null}
        className={row_style}
      >
        {label}
      </OrganizationMenu>
    </DeferredMenu>
  )
}

/** The person who is signed in. Its menu has the theme and the sign-out. */
function AccountRow({ on_keys }: { on_keys: () => void }) {
  const me = useQuery(meQuery).data
  const name = me ? visible(me.full_name ?? (me.email || me.github_username || `user ${me.id}`)) : 'Account'
  const label = (
    <>
      <span
        aria-hidden
        className="grid size-6 shrink-0 place-items-center rounded-full bg-hover font-medium text-2xs text-muted"
      >
        {initials(name)}
      </span>
      <span className="min-w-0 flex-1 truncate">{name}</span>
      {me?.role && <span className="shrink-0 text-2xs text-faint">{me.role.toLowerCase()}</span>}
      <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-faint" />
    </>
  )
  return (
    <DeferredMenu label="Account" trigger={label} className={row_style} load={loadAccountMenu}>
      <AccountMenu on_keys={on_keys} className={row_style}>
        {label}
      </AccountMenu>
    </DeferredMenu>
  )
}

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map(word => [...word][0]?.toUpperCase() ?? '')
    .join('')
