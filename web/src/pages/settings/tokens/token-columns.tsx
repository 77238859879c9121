import { ago, moment, plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import type { Column } from '../../../ui/table.tsx'
import { type Token, tokenState } from './tokens-query.ts'

/** `nameOf` names a user by id. */
export const tokenColumns = (nameOf: (user_id: number) => string, now: number): Column<Token>[] => [
  {
    name: 'Token',
    main: true,
    cell: token => (
      <span className="flex flex-wrap items-center gap-x-2">
        <span className="font-medium [overflow-wrap:anywhere]">{visible(token.name)}</span>
        <code className="font-mono text-faint text-xs">
          {visible(token.prefix)}…{visible(token.hint)}
        </code>
        {tokenState(token, now) === 'revoked' && <Badge tone="bad">Revoked</Badge>}
        {tokenState(token, now) === 'expired' && <Badge tone="warn">Expired</Badge>}
        {token.wire_profile === 'codegen' && <Badge>Codegen format</Badge>}
        {token.organization_id === null && <Badge>All organizations</Badge>}
        {token.oauth_client !== null && <Badge>Signed in by OAuth</Badge>}
      </span>
    ),
  },
  { name: 'Acts for', wide_only: true, cell: ({ user_id }) => nameOf(user_id) },
  { name: 'Access', wide_only: true, cell: access },
  { name: 'Last used', wide_only: true, cell: ({ last_used_at }) => time(last_used_at, 'never', now) },
  {
    name: 'Expires',
    cell: ({ expires_at }) => (
      <span className="text-muted">{expires_at === null ? 'never' : day(expires_at)}</span>
    ),
  },
]

const day = (iso: string) => (
  <time dateTime={iso} title={moment(iso)}>
    {new Date(iso).toLocaleDateString(undefined, { dateStyle: 'medium' })}
  </time>
)

const time = (iso: string | null, otherwise: string, now: number) => (
  <span className="text-muted">
    {iso === null ? (
      otherwise
    ) : (
      <time dateTime={iso} title={moment(iso)}>
        {ago(iso, now)}
      </time>
    )}
  </span>
)

function access({ scopes, repository_ids }: Token) {
  const scope =
    scopes === null ? 'as the role' : scopes.length === 1 ? scopes[0] : plural(scopes.length, 'scope')
  return (
    <span title={scopes?.join(', ')}>
      {scope}
      {repository_ids !== null && (
        <span className="text-muted">, {plural(repository_ids.length, 'repository', 'repositories')}</span>
      )}
    </span>
  )
}
