import { useMutation, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldMessages } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { currentOrganizationQuery, organizationsQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import type { OAuthSearch } from '../../search-params.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { CheckList } from '../../ui/check-list.tsx'
import { Loading, Notice } from '../../ui/notice.tsx'
import { type Scope, scope_texts } from '../settings/tokens/tokens-query.ts'

/** What the tools of the service for agents need, when a program names nothing. */
const DEFAULT_SCOPES: Scope[] = ['runs:read', 'runs:write', 'logs:read', 'repos:read', 'org:read']

const scope_options = Object.entries(scope_texts).map(([value, label]) => ({ value: value as Scope, label }))

/**
 * Asks a person whether a program may act for them (specification.md#mcp). The program opens this page;
 * nothing in its address is trusted.
 */
export function ConsentPage() {
  const search = useSearch({ from: '/app/oauth/authorize' })
  const { client_id = '', redirect_uri = '' } = search
  const client = useQuery({
    queryKey: ['oauth-client', client_id, redirect_uri],
    queryFn: ({ signal }) => call('getOAuthClient', { query: { client_id, redirect_uri }, signal }),
    retry: false,
  })
  if (client.isPending) return <Loading label="Loading the program" />
  if (client.isError)
    return <PageProblem error={client.error} retry={() => client.refetch()} what="program" />
  return <Consent client={client.data} search={search} />
}

type Props = { client: { name: string; redirect_uri: string; host: string | null }; search: OAuthSearch }

function Consent({ client, search }: Props) {
  const name = visible(client.name)
  const requested = requestedScopes(search.scope)
  // What administers the organization or its repositories is allowed by a choice only.
  const [chosen, setChosen] = useState<Scope[]>(requested.filter(scope => !scope.endsWith(':admin')))
  const allow = useMutation({
    mutationFn: () => call('authorizeOAuthClient', { body: bodyOf(search, chosen) }),
    onSuccess: ({ redirect_to }) => location.assign(redirect_to),
  })
  const deny = () => {
    const to = new URL(client.redirect_uri)
    to.searchParams.set('error', 'access_denied')
    to.searchParams.set('iss', location.origin)
    if (search.state !== undefined) to.searchParams.set('state', search.state)
    location.assign(to.href)
  }
  const current = useQuery(currentOrganizationQuery).data
  const organization = useQuery(organizationsQuery).data?.items.find(({ id }) => id === current)
  return (
    <Page heading={`Allow ${name} to act for you?`} title={`Allow ${name}`}>
      <form
        className="max-w-xl space-y-4 rounded-lg border border-line bg-surface p-4"
        onSubmit={event => {
          event.preventDefault()
          if (chosen.length > 0) allow.mutate()
        }}
      >
        <p>
          It gets a token of yours for <strong>{visible(organization?.name ?? 'this organization')}</strong>{' '}
          that expires after 30 days. You can revoke it in Settings, Tokens.
        </p>
        <Notice tone="warn">
          Allow it only if you have just started this sign-in. The program chose its name itself. Its response
          is sent to{' '}
          <strong>{client.host === null ? 'a program on this computer' : visible(client.host)}</strong>{' '}
          <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(client.redirect_uri)}</code>.
        </Notice>
        <CheckList
          legend="It may"
          options={scope_options.filter(({ value }) => requested.includes(value))}
          chosen={chosen}
          on_change={setChosen}
          problem={fieldMessages(allow.error).scopes}
        />
        {allow.isError && <Notice tone="bad">{visible(allow.error.message)}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={deny}>Deny</Button>
          <Button
            type="submit"
            variant="primary"
            busy={allow.isPending || allow.isSuccess}
            reason={chosen.length === 0 ? 'Choose a scope first' : null}
          >
            Allow
          </Button>
        </div>
      </form>
    </Page>
  )
}

/** Unknown names are left out: what the program gets is in the response to it. */
function requestedScopes(text: string | undefined): Scope[] {
  const named = (text ?? '').split(' ')
  const known = Object.keys(scope_texts).filter(name => named.includes(name)) as Scope[]
  return known.length > 0 ? known : DEFAULT_SCOPES
}

const bodyOf = (
  { client_id = '', redirect_uri = '', code_challenge = '', state, resource, ...search }: OAuthSearch,
  scopes: Scope[],
) => ({
  client_id,
  redirect_uri,
  code_challenge,
  scopes,
  // The service refuses every other one; without a name it is `plain` (RFC 7636, 4.3).
  code_challenge_method: (search.code_challenge_method ?? 'plain') as 'S256',
  ...(state !== undefined && { state }),
  ...(resource !== undefined && { resource }),
})
