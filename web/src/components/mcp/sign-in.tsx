import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { notify } from '../../ui/toast.ts'
import { useRequest } from '../form/use-request.ts'
import type { McpServer } from './server-draft.ts'

type State = NonNullable<McpServer['sign_in_state']>

export const statuses: Record<State['status'], string> = {
  signed_in: 'Signed in',
  expired: 'Sign-in expired',
  signed_out: 'Not signed in',
}

export const problemOfSignIn = (problem: string) => `The last sign-in or renewal failed: ${problem}.`

/** Sends the person to the authorization server of an MCP server, which sends them back. */
export function SignInButton({
  repo_id,
  name,
  state: { status },
}: {
  repo_id: number | null
  name: string
  state: State
}) {
  const begin = useRequest(
    () =>
      repo_id === null
        ? call('startMcpSignIn', { params: { server: name } })
        : call('startRepositoryMcpSignIn', { params: { repo_id, server: name } }),
    {
      on_done: ({ authorization_url }) => window.location.assign(authorization_url),
      on_error: error => notify(visible(error.message), 'bad'),
    },
  )
  const label = status === 'signed_out' ? 'Sign in' : 'Sign in again'
  return (
    <Button
      variant="quiet"
      aria-label={`${label} to ${name}`}
      busy={begin.isPending || begin.isSuccess}
      onClick={() => begin.mutate()}
    >
      {label}
    </Button>
  )
}
