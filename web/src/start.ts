import { session } from './api/client.ts'
import { fetchFirstView } from './api/first-view.ts'
import './styles/app.css'

// What the first view needs is requested while the code that shows it is still loading.
const { pathname, search, hash } = location
const run = /^\/agent\/trace\/(\d{1,15})$/.exec(pathname)
if (!/^\/(sign-in|invitation|docs)$/.test(pathname)) session.current().catch(() => {})
if (run) fetchFirstView(Number(run[1]), { search, hash })
import('./main.tsx').catch(() => {
  const root = document.getElementById('root')
  if (root) root.textContent = 'This page could not be loaded. Reload it to try again.'
})
// After the requests above, which would wait behind its parts: browsers load six files at a time. The router
// reports a failure.
setTimeout(() => {
  const page = run
    ? import('./pages/runs/trace.tsx')
    : pathname === '/'
      ? import('./pages/runs/run-list.tsx')
      : null
  page?.catch(() => {})
})
