import { notifyManager, QueryCache, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isSignedOut } from './api/api-error.ts'
import { createQueryClient } from './api/queries.ts'
import { createAppRouter } from './router.tsx'
import { HintLayer } from './ui/hint-layer.tsx'

// A form shows that its request is sent before the next click arrives, so that a double click sends one.
notifyManager.setScheduler(queueMicrotask)

// The session may end while a page is open: the route's guard then leads to the sign-in page.
const queries = createQueryClient(
  new QueryCache({
    onError: error => {
      if (isSignedOut(error)) void router.invalidate()
    },
  }),
)
const router = createAppRouter(queries)

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <HintLayer />
      </QueryClientProvider>
    </StrictMode>,
  )
}
