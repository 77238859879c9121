import { lazyRouteComponent } from '@tanstack/react-router'
import { loadWhenReachable } from '../api/load-when-reachable.ts'

/**
 * A page that is loaded when it is opened. When loading fails, the router reloads the document: without a
 * connection that would lose it.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadWhenReachable(load), name)
