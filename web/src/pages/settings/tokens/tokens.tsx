import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { KeyRound, Plus } from 'lucide-react'
import { call } from '../../../api/client.ts'
import { meQuery } from '../../../api/queries.ts'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { Page } from '../../../components/page.tsx'
import { PagedList, totalNote } from '../../../components/paged-list.tsx'
import { ResourceTable, useDialog } from '../../../components/resource-page.tsx'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Blank } from '../../../ui/notice.tsx'
import { useNow } from '../../../ui/now.ts'
import { usePersonNames } from '../people.ts'
import { CreateToken } from './create-token.tsx'
import { tokenColumns } from './token-columns.tsx'
import { tokenState, tokensQuery } from './tokens-query.ts'

/** The API tokens that the person may see, newest first. */
export function TokensPage() {
  const { create_for } = useSearch({ from: '/app/settings/tokens' })
  const tokens = useInfiniteQuery(tokensQuery)
  const me = useQuery(meQuery).data
  const nameOf = usePersonNames()
  const now = useNow(true, 60_000)
  const forbidden = me?.role === 'READER' ? 'Your role, READER, may not create or revoke tokens' : null
  const creation = (close: () => void) => <Creation user_id={create_for ?? null} on_close={close} />
  const { dialog, show } = useDialog(create_for === undefined ? undefined : creation)
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
        <Button variant="primary" reason={forbidden} onClick={() => show(creation)}>
          <Plus aria-hidden className="size-4" /> Create token
        </Button>
      }
    >
      <PagedList list={tokens} nouns={['token', 'tokens']} empty={<NoneYet />}>
        {items => (
          <ResourceTable
            label="Tokens"
            columns={tokenColumns(nameOf, now)}
            rows={items}
            row_key={({ id }) => id}
            name={({ name }) => visible(name)}
            actions={token => [
              tokenState(token, now) === 'active' && {
                text: 'Revoke',
                reason: forbidden,
                dialog: close => (
                  <ConfirmDialog
                    title={`Revoke ${visible(token.name)}`}
                    action="Revoke token"
                    send={() => call('revokeToken', { params: { token_id: token.id } })}
                    refresh={[tokensQuery]}
                    done="The token was revoked"
                    on_close={close}
                  >
                    The next request with it is refused. A token cannot be restored.
                  </ConfirmDialog>
                ),
              },
            ]}
          />
        )}
      </PagedList>
      {me && forbidden === null && dialog}
    </Page>
  )
}

const NoneYet = () => (
  <Blank icon={<KeyRound />} title="No tokens yet">
    Programs, the command line and scripts call the API with a token.
  </Blank>
)

function Creation({ user_id, on_close }: { user_id: number | null; on_close: () => void }) {
  const navigate = useNavigate({ from: '/settings/tokens' })
  const close = () => {
    on_close()
    void navigate({ search: {}, replace: true })
  }
  return (
    <Dialog title="Create token" on_close={close}>
      <CreateToken user_id={user_id} on_done={close} />
    </Dialog>
  )
}
