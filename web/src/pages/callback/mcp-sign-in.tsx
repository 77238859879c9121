import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { organizationOfState } from '../../../../src/contract/organizations/sign-in-state.ts'
import { isSignedOut } from '../../api/api-error.ts'
import { call, session } from '../../api/client.ts'
import { Brand } from '../../components/brand.tsx'
import { visible } from '../../text/visible.ts'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Loading, Notice } from '../../ui/notice.tsx'
import { readTabStorage, writeTabStorage } from '../../ui/tab-storage.ts'

/** What the authorization server passed, without what it did not pass. */
type Response = { state: string } & Partial<Record<'code' | 'iss' | 'error' | 'error_description', string>>
type Request = Awaited<ReturnType<typeof request>>

/** The response while its person signs in to the service. It must not be in the address of that page, nor in the history. */
const STORED = 'mcp-sign-in'

function responseOfAddress(): Response | null {
  const given = Object.fromEntries(new URLSearchParams(location.search))
  return (given.state === undefined ? readTabStorage(STORED) : given) as Response | null
}

/** Reads what is to be completed, as the person who is signed in to the service. */
async function request({ state }: Response) {
  const { user_id, organizations } = await session.current()
  const org_id = organizationOfState(state) ?? undefined
  const found = await call('getMcpSignIn', { params: { org_id }, query: { state } })
  const organization = organizations.find(({ id }) => id === org_id)?.name ?? `organization ${org_id}`
  return { ...found, org_id, organization: visible(organization), own: found.started_by === user_id }
}

/**
 * Completes a sign-in to an MCP server (decisions.md#a-person-signs-in-to-mcp-servers): at once for the person who began it, and for another
 * one after a confirmation. Nothing in its address is trusted.
 */
export function McpSignInPage() {
  const [response] = useState(responseOfAddress)
  useEffect(() => {
    writeTabStorage(STORED, response)
    history.replaceState(history.state, '', location.pathname)
  }, [response])
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <title>Sign in to an MCP server · Agent runs</title>
      <div className="w-full max-w-md">
        <div className="mb-5 flex items-center gap-2.5 text-lg font-semibold">
          <Brand size={26} /> Agent Run Service
        </div>
        <div className="space-y-4 rounded-xl border border-line bg-surface p-5">
          <h1 className="text-lg font-semibold">Sign in to an MCP server</h1>
          {response === null ? <Problem>This address has no response of an authorization server.</Problem> : <Begun response={response} />}
        </div>
      </div>
    </main>
  )
}

function Begun({ response }: { response: Response }) {
  const begun = useQuery({
    queryKey: ['mcp-sign-in', response.state],
    queryFn: () => request(response),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (begun.isPending) return <Loading label="Reading the sign-in" />
  if (isSignedOut(begun.error)) return <SignedOut />
  if (begun.isError) return <Problem>{visible(begun.error.message)}</Problem>
  return <Completion response={response} request={begun.data} />
}

function Completion({ response, request: { org_id, server, organization, issuer, url, own } }: { response: Response; request: Request }) {
  const finish = useMutation({
    mutationFn: () => call('finishMcpSignIn', { params: { org_id }, body: response }),
    onSuccess: () => writeTabStorage(STORED, null),
  })
  const { mutate } = finish
  const completed = useRef(false)
  useEffect(() => {
    if (!own || completed.current) return
    completed.current = true
    mutate()
  }, [own, mutate])
  if (finish.isError) return <Problem>{visible(finish.error.message)}</Problem>
  if (finish.isSuccess) return <Result {...finish.data} org_id={org_id} />
  if (own) return <Loading label={`Signing in to ${server}`} />
  return (
    <>
      <p>
        Connect <strong>{server}</strong> of <strong>{organization}</strong> to <strong>{visible(new URL(issuer).host)}</strong>?
      </p>
      <Notice tone="warn">
        Another person began this sign-in. Everybody who starts runs in {organization} then acts with your access to{' '}
        <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(url)}</code>. Connect it only if you expected this.
      </Notice>
      <div className="flex justify-end gap-2">
        <Link to="/" className={buttonStyle()} onClick={() => writeTabStorage(STORED, null)}>
          Cancel
        </Link>
        <Button variant="primary" busy={finish.isPending} onClick={() => mutate()}>
          Connect
        </Button>
      </div>
    </>
  )
}

type Done = { org_id: number | undefined; server: string; repo_id: number | null; problem: string | null }

function Result({ org_id, server, repo_id, problem }: Done) {
  // The settings are those of the organization of the sign-in. The page is loaded again, because everything on it belongs to one.
  const back = () => {
    if (org_id !== undefined) session.choose(org_id)
  }
  const href = repo_id === null ? '/settings/mcp-servers' : `/repositories/${repo_id}/mcp-servers`
  return (
    <>
      {problem === null ? (
        <p role="status">You are signed in to {server}.</p>
      ) : (
        <Notice tone="bad">{visible(`You are not signed in to ${server}: ${problem}.`)}</Notice>
      )}
      <a href={href} onClick={back} className={buttonStyle('primary', 'w-full')}>
        Back to the MCP servers
      </a>
    </>
  )
}

/** The person comes back here after the sign-in. */
const SignedOut = () => (
  <>
    <p>You are not signed in to this service. Sign in as the person who began, or as another one who may set the server.</p>
    <Link to="/sign-in" search={{ next: '/mcp-sign-in' }} className={buttonStyle('primary', 'w-full')}>
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
