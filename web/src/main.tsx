import { notifyManager, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isSignedOut } from './api/api-error.ts'
import { queries, responds } from './api/query-client.ts'
import { createAppRouter } from './router.tsx'
import { HintLayer } from './ui/hint-layer.tsx'

// A form shows that its request is sent before the next click arrives, so that a double click sends one.
notifyManager.setScheduler(queueMicrotask)

const router = createAppRouter(queries)

// The session may end while a page is open: the route's guard then leads to the sign-in page.
queries.getQueryCache().subscribe(event => {
  if (event.type === 'updated' && event.action.type === 'error' && isSignedOut(event.action.error))
    void router.invalidate()
})

// A stream without events notices the loss of the network late.
window.addEventListener('offline', () => void responds())

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
