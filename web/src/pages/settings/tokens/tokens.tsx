import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../../api/client.ts'
import { meQuery } from '../../../api/queries.ts'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { Page } from '../../../components/page.tsx'
import { PagedList, totalNote } from '../../../components/paged-list.tsx'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Blank } from '../../../ui/notice.tsx'
import { useNow } from '../../../ui/now.ts'
import { Table } from '../../../ui/table.tsx'
import { notify } from '../../../ui/toast.ts'
import { usePersonNames } from '../people.ts'
import { CreateToken } from './create-token.tsx'
import { tokenColumns } from './token-columns.tsx'
import { type Token, tokenState, tokensQuery } from './tokens-query.ts'

/** The API tokens that the person may see, newest first. */
export function TokensPage() {
  const { create_for } = useSearch({ from: '/app/settings/tokens' })
  const navigate = useNavigate({ from: '/settings/tokens' })
  const tokens = useInfiniteQuery(tokensQuery)
  const me = useQuery(meQuery).data
  const nameOf = usePersonNames()
  const now = useNow(true, 60_000)
  const [creating, setCreating] = useState(create_for !== undefined)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const forbidden = me?.role === 'READER' ? 'Your role, READER, may not create or revoke tokens' : null
  const close = () => {
    setCreating(false)
    void navigate({ search: {}, replace: true })
  }
  const revoke = (token: Token) =>
    tokenState(token, now) === 'active' && (
      <Button
        variant="quiet"
        reason={forbidden}
        aria-label={`Revoke ${visible(token.name)}`}
        onClick={() => setRevoking(token)}
      >
        Revoke
      </Button>
    )
  return (
    <Page
      heading="Tokens"
      note={totalNote(tokens)}
      about={
        me?.role === 'ADMIN'
          ? 'Tokens of this organization, yours and those of others. A token never does more than the role of its user permits.'
          : 'Your tokens. A token never does more than your role permits.'
      }
      actions={
        <Button variant="primary" reason={forbidden} onClick={() => setCreating(true)}>
          <Plus aria-hidden className="size-4" /> Create token
        </Button>
      }
    >
      <PagedList list={tokens} nouns={['token', 'tokens']} empty={<NoneYet />}>
        {items => (
          <Table
            label="Tokens"
            columns={[...tokenColumns(nameOf, now), { name: '', cell: revoke }]}
            rows={items}
            row_key={({ id }) => id}
          />
        )}
      </PagedList>
      <Dialog title="Create token" open={creating && me !== undefined && forbidden === null} on_close={close}>
        <CreateToken user_id={create_for ?? null} on_done={close} />
      </Dialog>
      {revoking && <Revocation token={revoking} on_close={() => setRevoking(null)} />}
    </Page>
  )
}

const NoneYet = () => (
  <Blank icon={<KeyRound />} title="No tokens yet">
    Programs, the command line and scripts call the API with a token.
  </Blank>
)

function Revocation({ token, on_close }: { token: Token; on_close: () => void }) {
  const queries = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => call('revokeToken', { params: { token_id: token.id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: tokensQuery.queryKey })
      notify('The token was revoked')
      on_close()
    },
  })
  return (
    <ConfirmDialog
      title={`Revoke ${visible(token.name)}`}
      action="Revoke token"
      request={revoke}
      open
      on_close={on_close}
    >
      The next request with it is refused. A token cannot be restored.
    </ConfirmDialog>
  )
}
