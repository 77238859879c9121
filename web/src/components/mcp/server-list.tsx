import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Blocks, Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.ts'
import { ConfirmDialog } from '../form/confirm-dialog.tsx'
import { PageProblem } from '../page-problem.tsx'
import type { McpServer } from './server-draft.ts'
import { ServerForm } from './server-form.tsx'
import { serversQuery } from './servers-query.ts'
import { problemOfSignIn, SignInButton, statuses } from './sign-in.tsx'

type Act = { kind: 'add' } | { kind: 'edit' | 'delete'; server: McpServer }

/**
 * The MCP servers of a repository, or of the organization, with what changes them. `frame`: the page around
 * the list and its button.
 */
export function ServerList({
  repo_id,
  frame,
}: {
  repo_id: number | null
  frame(button: ReactNode, list: ReactNode, count?: number): ReactNode
}) {
  const servers = useQuery(serversQuery(repo_id))
  const [act, setAct] = useState<Act | null>(null)
  const close = () => setAct(null)
  if (servers.isError)
    return <PageProblem error={servers.error} retry={() => servers.refetch()} what="list" />
  const { data } = servers
  const actions: Column<McpServer> = {
    name: '',
    cell: server => (
      <span className="flex justify-end gap-1">
        {server.sign_in_state !== null && (
          <SignInButton repo_id={repo_id} name={server.name} state={server.sign_in_state} />
        )}
        <Button
          variant="quiet"
          aria-label={`Edit ${server.name}`}
          onClick={() => setAct({ kind: 'edit', server })}
        >
          Edit
        </Button>
        <Button
          variant="quiet"
          aria-label={`Delete ${server.name}`}
          onClick={() => setAct({ kind: 'delete', server })}
        >
          Delete
        </Button>
      </span>
    ),
  }
  const button = (
    <Button variant="primary" onClick={() => setAct({ kind: 'add' })}>
      <Plus aria-hidden className="size-4" /> Add server
    </Button>
  )
  const list = (
    <>
      {!data && <Loading label="Loading the MCP servers" />}
      {data?.length === 0 && (
        <Blank icon={<Blocks />} title="No MCP servers yet">
          Add one for the tools that agents need in addition to their own, such as those of an issue tracker
          or of a database.
        </Blank>
      )}
      {data && data.length > 0 && (
        <Table label="MCP servers" columns={[...columns, actions]} rows={data} row_key={({ name }) => name} />
      )}
      <Dialog
        title={act?.kind === 'edit' ? act.server.name : 'Add MCP server'}
        open={act?.kind === 'add' || act?.kind === 'edit'}
        on_close={close}
      >
        {(act?.kind === 'add' || act?.kind === 'edit') && (
          <ServerForm
            repo_id={repo_id}
            server={act.kind === 'edit' ? act.server : null}
            taken={data?.map(({ name }) => name) ?? []}
            on_done={close}
          />
        )}
      </Dialog>
      {act?.kind === 'delete' && <Deletion repo_id={repo_id} name={act.server.name} on_close={close} />}
    </>
  )
  return frame(button, list, data?.length)
}

const columns: Column<McpServer>[] = [
  {
    name: 'Server',
    main: true,
    cell: ({ name, url, command, args, enabled, sign_in_state }) => (
      <>
        <span className="flex flex-wrap items-center gap-2">
          <code className="font-mono text-xs">{visible(name)}</code>
          {!enabled && <Badge tone="neutral">Disabled</Badge>}
        </span>
        <code className="block font-mono text-muted text-xs [overflow-wrap:anywhere]">
          {visible(url ?? [command, ...args].join(' '))}
        </code>
        {sign_in_state?.problem != null && (
          <span className="block text-muted text-xs">{visible(problemOfSignIn(sign_in_state.problem))}</span>
        )}
      </>
    ),
  },
  {
    name: 'Credential',
    wide_only: true,
    cell: ({ url, has_credential, oauth, sign_in_state }) => (
      <span className="text-muted">
        {sign_in_state !== null
          ? statuses[sign_in_state.status]
          : url === null
            ? '—'
            : !has_credential
              ? 'None'
              : oauth === null
                ? 'Set'
                : 'OAuth client'}
      </span>
    ),
  },
  {
    name: 'Tools',
    wide_only: true,
    cell: ({ tools }) => <span className="text-muted">{tools === null ? 'All' : tools.length}</span>,
  },
]

function Deletion({
  repo_id,
  name,
  on_close,
}: {
  repo_id: number | null
  name: string
  on_close: () => void
}) {
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () =>
      repo_id === null
        ? call('deleteMcpServer', { params: { server: name } })
        : call('deleteRepositoryMcpServer', { params: { repo_id, server: name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: serversQuery(repo_id).queryKey })
      notify(`${name} was deleted`)
      on_close()
    },
  })
  return (
    <ConfirmDialog title={`Delete ${name}`} action="Delete server" request={remove} open on_close={on_close}>
      Agents no longer get its tools from their next turn on. Its credential is deleted too and cannot be
      restored.
    </ConfirmDialog>
  )
}
