import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { organizationOfState } from '../../../../src/contract/organizations/sign-in-state.ts'
import { isSignedOut } from '../../api/api-error.ts'
import { session } from '../../api/client.ts'
import { Brand } from '../../components/brand.tsx'
import { visible } from '../../text/visible.ts'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Loading, Notice } from '../../ui/notice.tsx'
import { readTabStorage, writeTabStorage } from '../../ui/tab-storage.ts'

/** What another service passed in the address, without what it did not pass. */
type PassedParameters = { state: string } & Partial<
  Record<'code' | 'iss' | 'error' | 'error_description', string>
>
/** `organization`: its name. */
type Of<Request> = { org_id: number | undefined; organization: string; own: boolean; request: Request }

type Callback<Request extends { started_by: number }, Done> = {
  heading: string
  /** The path of the page, and the key under which the tab stores what was passed. */
  path: '/mcp-sign-in' | '/github-app'
  /** What may be missing in the address: "no response of GitHub". */
  missing: string
  view(state: string, org_id: number | undefined): Promise<Request>
  complete(passed: PassedParameters, org_id: number | undefined): Promise<Done>
  /** What another person than the one who began has to confirm. */
  question(of: Of<Request>): ReactNode
  result(done: Done, org_id: number | undefined): ReactNode
}

function passedIn(path: string): PassedParameters | null {
  const given = Object.fromEntries(new URLSearchParams(location.search))
  return (given.state === undefined ? readTabStorage(path) : given) as PassedParameters | null
}

/**
 * The page to which another service sends the browser of a person, and which completes what was begun here:
 * at once for the person who began it, and for another one after a confirmation
 * (decisions.md#a-person-signs-in-to-mcp-servers). Nothing in its address is trusted.
 */
export function CallbackPage<Request extends { started_by: number }, Done>(
  callback: Callback<Request, Done>,
) {
  const { heading, path, missing } = callback
  const [passed] = useState(() => passedIn(path))
  useEffect(() => {
    // While its person signs in to the service it must not be in the address of that page, nor in the
    // history.
    writeTabStorage(path, passed)
    history.replaceState(history.state, '', location.pathname)
  }, [path, passed])
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <title>{`${heading} · Agent runs`}</title>
      <div className="w-full max-w-md">
        <div className="mb-5 flex items-center gap-2.5 text-lg font-semibold">
          <Brand size={26} /> Agent Run Service
        </div>
        <div className="space-y-4 rounded-xl border border-line bg-surface p-5">
          <h1 className="text-lg font-semibold">{heading}</h1>
          {passed === null ? (
            <Problem>This address has {missing}.</Problem>
          ) : (
            <Begun callback={callback} passed={passed} />
          )}
        </div>
      </div>
    </main>
  )
}

type Props<Request extends { started_by: number }, Done> = {
  callback: Callback<Request, Done>
  passed: PassedParameters
}

function Begun<Request extends { started_by: number }, Done>({ callback, passed }: Props<Request, Done>) {
  const begun = useQuery({
    queryKey: ['callback', passed.state],
    queryFn: async (): Promise<Of<Request>> => {
      const { user_id, organizations } = await session.current()
      const org_id = organizationOfState(passed.state) ?? undefined
      const request = await callback.view(passed.state, org_id)
      const name = organizations.find(({ id }) => id === org_id)?.name ?? `organization ${org_id}`
      return { org_id, organization: visible(name), own: request.started_by === user_id, request }
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (begun.isPending) return <Loading label="Reading what was begun" />
  if (isSignedOut(begun.error)) return <SignedOut path={callback.path} />
  if (begun.isError) return <Problem>{visible(begun.error.message)}</Problem>
  return <Completion callback={callback} passed={passed} of={begun.data} />
}

function Completion<Request extends { started_by: number }, Done>({
  callback,
  passed,
  of,
}: Props<Request, Done> & { of: Of<Request> }) {
  const { own, org_id } = of
  const forget = () => writeTabStorage(callback.path, null)
  const finish = useMutation({ mutationFn: () => callback.complete(passed, org_id), onSuccess: forget })
  const { mutate } = finish
  const completed = useRef(false)
  useEffect(() => {
    if (!own || completed.current) return
    completed.current = true
    mutate()
  }, [own, mutate])
  if (finish.isError) return <Problem>{visible(finish.error.message)}</Problem>
  if (finish.isSuccess) return callback.result(finish.data, org_id)
  if (own) return <Loading label="Connecting" />
  return (
    <>
      {callback.question(of)}
      <div className="flex justify-end gap-2">
        <Link to="/" className={buttonStyle()} onClick={forget}>
          Cancel
        </Link>
        <Button variant="primary" busy={finish.isPending} onClick={() => mutate()}>
          Connect
        </Button>
      </div>
    </>
  )
}

/**
 * Leads to a page of this organization. It is loaded again, because everything on it belongs to one
 * organization.
 */
export function BackTo({
  href,
  org_id,
  children,
}: {
  href: string
  org_id: number | undefined
  children: ReactNode
}) {
  const choose = () => {
    if (org_id !== undefined) session.choose(org_id)
  }
  return (
    <a href={href} onClick={choose} className={buttonStyle('plain', 'w-full')}>
      {children}
    </a>
  )
}

/** The person comes back here after the sign-in. */
const SignedOut = ({ path }: { path: string }) => (
  <>
    <p>
      You are not signed in to this service. Sign in as the person who began, or as another one who has the
      permission.
    </p>
    <Link to="/sign-in" search={{ next: path }} className={buttonStyle('primary', 'w-full')}>
      Sign in to this service
    </Link>
  </>
)

const Problem = ({ children }: { children: ReactNode }) => (
  <>
    <Notice tone="bad">{children}</Notice>
    <Link to="/" className={buttonStyle('plain', 'w-full')}>
      All runs
    </Link>
  </>
)
