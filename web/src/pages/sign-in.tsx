import { useMutation } from '@tanstack/react-query'
import { Link, useLocation, useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { isSignedOut } from '../api/api-error.ts'
import { signInWith } from '../api/token-sign-in.ts'
import { Brand } from '../components/brand.tsx'
import { visible } from '../text/visible.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Loading, Notice } from '../ui/notice.tsx'

/** The page to open after the sign-in: only a path of this service is accepted. */
const destination = (next: string | undefined) => (next && /^\/(?![/\\])/.test(next) ? next : '/')

/** Signs in with the code of the address, if it has one, and with what is passed to `mutate`. */
function useSignIn() {
  const { next } = useSearch({ from: '/sign-in' })
  const router = useRouter()
  const opened = useRef<string | null>(null)
  // It also changes while the page is shown, when another link is opened in the same tab.
  const hash = useLocation({ select: location => location.hash })
  const signIn = useMutation({
    mutationFn: (pasted: string) => signInWith(pasted),
    onSuccess: () => {
      router.options.context.queries.clear()
      router.history.replace(destination(next))
    },
  })
  const { mutate } = signIn
  useEffect(() => {
    const code = new URLSearchParams(hash).get('code')
    if (!code || opened.current === code) return
    opened.current = code
    // The code works once. It is removed from the address, and so from the history, at once.
    history.replaceState(history.state, '', location.pathname + location.search)
    mutate(`#code=${code}`)
  }, [hash, mutate])
  return signIn
}

export function SignInPage() {
  const signIn = useSignIn()
  const [pasted, setPasted] = useState('')
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <title>Sign in · Agent runs</title>
      <div className="w-full max-w-md">
        <div className="mb-5 flex items-center gap-2.5 text-lg font-semibold">
          <Brand size={26} /> Agent Run Service
        </div>
        <div className="rounded-xl border border-line bg-surface p-5">
          <h1 className="text-lg font-semibold">Sign in</h1>
          {signIn.isPending ? (
            <Loading label="Signing in" />
          ) : (
            <form
              className="mt-3 space-y-4"
              onSubmit={event => {
                event.preventDefault()
                if (pasted.trim()) signIn.mutate(pasted)
              }}
            >
              {signIn.isError && <Notice tone="bad">{failure(signIn.error, signIn.variables)}</Notice>}
              <p className="text-muted">
                Every start of the service (<code className="font-mono">npm start</code>) creates a sign-in
                link that works once. It is in the terminal of the service or, without a terminal, in the file{' '}
                <code className="font-mono">sign-in-link</code> of its data folder.
              </p>
              <Field label="Or paste the sign-in link, its code or an API token">
                {props => (
                  <Input
                    {...props}
                    name="code"
                    value={pasted}
                    onChange={event => setPasted(event.target.value)}
                    spellCheck={false}
                  />
                )}
              </Field>
              <Button type="submit" variant="primary" className="w-full">
                Sign in
              </Button>
            </form>
          )}
        </div>
        <p className="mt-4 text-center text-xs">
          <Link to="/docs" className="inline-flex min-h-6 items-center text-muted hover:underline">
            API reference
          </Link>
        </p>
      </div>
    </main>
  )
}

const failure = (error: unknown, pasted: string) => {
  if (!isSignedOut(error)) return visible(error instanceof Error ? error.message : String(error))
  return pasted.includes('#code=')
    ? 'This link was used already or is too old. Take the newest one from the terminal.'
    : 'This is not a valid sign-in code or token. A code works once and for a short time; a token may be revoked or expired.'
}
