import { session } from './api/client.ts'
import { fetchFirstView } from './api/first-view.ts'
import './styles/app.css'

// What the first view needs is requested while the code that shows it is still loading.
const { pathname, search, hash } = location
const run = /^\/agent\/trace\/(\d{1,15})$/.exec(pathname)
if (!/^\/(sign-in|invitation|docs|design)$/.test(pathname)) session.current().catch(() => {})
if (run) fetchFirstView(Number(run[1]), { search, hash })
void import('./main.tsx')
// After the requests above, which would wait behind its parts: browsers load six files at a time.
setTimeout(() => {
  if (run) void import('./pages/runs/trace.tsx')
  else if (pathname === '/') void import('./pages/runs/run-list.tsx')
})
