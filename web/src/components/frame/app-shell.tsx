import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation } from '@tanstack/react-router'
import { CloudOff, Menu, PanelLeft, Plus, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { statusOf } from '../../api/api-error.ts'
import { readinessQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { useMedia } from '../../ui/media.ts'
import { hadMessages, onMessages } from '../../ui/toast.ts'
import { NewRunLink } from '../new-run-link.tsx'
import { CommandPalette } from './command-palette.tsx'
import { Breadcrumbs } from './crumbs.tsx'
import { Sidebar } from './sidebar.tsx'
import { useFrameKeys } from './use-frame-keys.ts'

const Toasts = lazy(() => import('../../ui/toasts.tsx'))
const KeyboardHelp = lazy(() => import('./keyboard-help.tsx'))

type Overlay = 'none' | 'navigation' | 'commands' | 'keys'

/** The frame of every signed-in page. Pages scroll inside it. */
export function AppShell() {
  const wide = useMedia('(min-width: 64rem)')
  const [sidebar, setSidebar] = useState(true)
  const [overlay, setOverlay] = useState<Overlay>('none')
  const close = () => setOverlay('none')
  /** Closes this one only: the event of a dialog that is closed comes after a key that has opened another. */
  const closing = (which: Overlay) => () => setOverlay(open => (open === which ? 'none' : open))
  const path = useLocation({ select: ({ pathname }) => pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer and the menu close when they have led to another page
  useEffect(close, [path])
  const toggleSidebar = () => (wide ? setSidebar(open => !open) : setOverlay('navigation'))
  useFrameKeys({
    commands: () => setOverlay('commands'),
    keys: () => setOverlay('keys'),
    sidebar: toggleSidebar,
  })

  // Messages are loaded with the first one, and then stay. */
  const had_messages = useSyncExternalStore(onMessages, hadMessages)
  const navigation = <Sidebar on_search={() => setOverlay('commands')} on_keys={() => setOverlay('keys')} />
  return (
    <div className="flex h-dvh">
      <SkipLink />
      {wide && sidebar && <div className="w-56 shrink-0 border-line border-r">{navigation}</div>}
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-11 shrink-0 items-center gap-1.5 border-line border-b bg-canvas px-3">
          <IconButton
            label={wide ? (sidebar ? 'Hide the sidebar' : 'Show the sidebar') : 'Open the navigation'}
            onClick={toggleSidebar}
          >
            {wide ? <PanelLeft className="size-4" /> : <Menu className="size-4.5" />}
          </IconButton>
          <Breadcrumbs />
          {!(wide && sidebar) && (
            <IconButton label="Search and commands" onClick={() => setOverlay('commands')}>
              <Search className="size-4" />
            </IconButton>
          )}
          {!(wide && sidebar) && (
            <NewRunLink variant="primary" className="w-7 px-0!" label="New run">
              <Plus aria-hidden className="size-4" />
            </NewRunLink>
          )}
        </header>
        <ServiceNotice />
        <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      {overlay === 'navigation' && !wide && (
        <Dialog kind="drawer" title="Navigation" on_close={closing('navigation')}>
          {navigation}
        </Dialog>
      )}
      {overlay === 'commands' && (
        <Dialog kind="palette" title="Search and commands" on_close={closing('commands')}>
          <CommandPalette on_close={closing('commands')} on_keys={() => setOverlay('keys')} />
        </Dialog>
      )}
      <Suspense>
        {overlay === 'keys' && <KeyboardHelp on_close={closing('keys')} />}
        {had_messages && <Toasts />}
      </Suspense>
    </div>
  )
}

const SkipLink = () => (
  // biome-ignore lint/a11y/useValidAnchor: it moves the focus within the page as a link does, but keeps the fragment of the address
  <a
    href="#main"
    onClick={event => {
      // The fragment of the address belongs to the page: in a trace it names an entry.
      event.preventDefault()
      document.getElementById('main')?.focus()
    }}
    className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:rounded-md focus:bg-surface focus:p-2"
  >
    Skip to content
  </a>
)

/** Shows that the service does not respond, until it does, and that its workers start no runs. */
function ServiceNotice() {
  const readiness = useQuery(readinessQuery)
  if (readiness.isError && statusOf(readiness.error) === 0) {
    return (
      <p
        role="alert"
        className="flex shrink-0 items-center gap-2 border-warn/40 border-b bg-warn/10 px-3 py-1.5 text-warn text-xs"
      >
        <CloudOff aria-hidden className="size-3.5 shrink-0" /> The service does not respond. What you see may
        be out of date; trying again…
      </p>
    )
  }
  if (readiness.data?.workers !== 'blocked') return null
  return (
    <p role="alert" className="shrink-0 border-warn/40 border-b bg-warn/10 px-3 py-1.5 text-warn text-xs">
      Runs are accepted and queued, but none is started:{' '}
      {visible(readiness.data.workers_reason ?? 'the workers are blocked')}
    </p>
  )
}
