import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { BookOpen, Box, LogOut, Plug, Plus } from 'lucide-react'
import { session } from '../api/client.ts'
import { currentOrganizationQuery, meQuery, organizationsQuery, readinessQuery } from '../api/queries.ts'
import { visible } from '../text/visible.ts'
import { buttonStyle } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Brand } from './brand.tsx'
import { ThemeButton } from './theme-button.tsx'

/** The frame of every signed-in page. Pages scroll inside it. */
export function AppShell() {
  const router = useRouter()
  const me = useQuery(meQuery).data
  const signOut = async () => {
    await session.signOut()
    router.options.context.queries.clear()
    await router.navigate({ to: '/sign-in', search: {} })
  }
  return (
    <div className="flex h-dvh flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2">
        Skip to content
      </a>
      <header className="flex h-11 shrink-0 items-center gap-1 border-line border-b bg-surface px-3">
        <Link to="/" className="mr-2 flex items-center gap-2 rounded-md font-semibold text-base" aria-label="Agent Run Service: all runs">
          <Brand /> <span className="max-sm:hidden">Agent Runs</span>
        </Link>
        <OrganizationName />
        <div className="flex-1" />
        <Link to="/new" search={{}} className={buttonStyle('primary', 'mr-1')}>
          <Plus aria-hidden className="size-4" /> New run
        </Link>
        <Link to="/forges" className={buttonStyle('quiet', 'w-7 px-0!')} aria-label="Forges" data-hint="Forges: GitHub, Gitea">
          <Plug aria-hidden className="size-4" />
        </Link>
        <Link to="/sandboxes" className={buttonStyle('quiet', 'w-7 px-0!')} aria-label="Sandboxes" data-hint="Sandboxes">
          <Box aria-hidden className="size-4" />
        </Link>
        <Link to="/docs" className={buttonStyle('quiet', 'w-7 px-0!')} aria-label="API reference" data-hint="API reference">
          <BookOpen aria-hidden className="size-4" />
        </Link>
        <ThemeButton />
        <IconButton label={me ? `Sign out ${visible(me.full_name ?? me.github_username)}` : 'Sign out'} onClick={signOut}>
          <LogOut className="size-4" />
        </IconButton>
      </header>
      <WorkersNotice />
      <main id="main" className="min-h-0 flex-1">
        <Outlet />
      </main>
    </div>
  )
}

/** The current organization; a select for users who belong to several. */
function OrganizationName() {
  const organizations = useQuery(organizationsQuery).data?.items ?? []
  const current = useQuery(currentOrganizationQuery).data
  const organization = organizations.find(({ id }) => id === current)
  if (!organization) return null
  if (organizations.length === 1) return <span className="truncate text-faint max-sm:hidden">{visible(organization.name)}</span>
  const choose = (id: number) => {
    session.choose(id)
    // Everything on the page, including streams, belongs to the other organization.
    location.assign('/')
  }
  return (
    <Select aria-label="Organization" className="max-w-48" value={organization.id} onChange={event => choose(Number(event.target.value))}>
      {organizations.map(({ id, name }) => (
        <option key={id} value={id}>
          {visible(name)}
        </option>
      ))}
    </Select>
  )
}

function WorkersNotice() {
  const readiness = useQuery(readinessQuery).data
  if (readiness?.workers !== 'blocked') return null
  return (
    <p role="alert" className="shrink-0 border-warn/40 border-b bg-warn/10 px-3 py-1.5 text-warn text-xs">
      Runs are accepted and queued, but none is started: {visible(readiness.workers_reason ?? 'the workers are blocked')}
    </p>
  )
}
