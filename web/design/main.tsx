import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import './design.css'
import { HintLayer } from '../src/ui/hint-layer.tsx'
import { DesignPage } from './design.tsx'

/** The samples have links, which need a router. */
const router = createRouter({
  basepath: '/design',
  routeTree: createRootRoute({ component: DesignPage, notFoundComponent: () => null }),
})

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={new QueryClient()}>
      <RouterProvider router={router} />
      <HintLayer />
    </QueryClientProvider>,
  )
}
