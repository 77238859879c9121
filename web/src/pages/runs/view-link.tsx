import { Link } from '@tanstack/react-router'
import { visible } from '../../text/visible.ts'
import type { RunView } from './run-views.ts'

/** A link to the run list with the filters of a view. */
export const ViewLink = ({ view, current }: { view: RunView; current: boolean }) => (
  <Link
    to="/"
    search={view.search}
    activeOptions={{ exact: true, includeSearch: true }}
    // The link is also current when the address has the same filters in another order.
    aria-current={current ? 'page' : undefined}
    className={`inline-flex h-7 items-center rounded-md px-2.5 font-medium text-sm max-md:h-9 ${current ? 'bg-hover text-ink' : 'text-muted hover:bg-hover hover:text-ink'}`}
  >
    {visible(view.name)}
  </Link>
)
