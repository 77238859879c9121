import { Blocks } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Blank } from '../../ui/notice.tsx'
import type { Column } from '../../ui/table.tsx'
import { ConfirmDialog } from '../form/confirm-dialog.tsx'
import { ResourcePage } from '../resource-page.tsx'
import type { McpServer } from './server-draft.ts'
import { ServerForm } from './server-form.tsx'
import { serversQuery } from './servers-query.ts'
import { problemOfSignIn, SignInButton, statuses } from './sign-in.tsx'

type Props = {
  repo_id: number | null
  about?: string
  frame?: (button: ReactNode, list: ReactNode) => ReactNode
}

/**
 * The MCP servers of a repository, or of the organization, with what changes them. `frame`: what is around
 * the list and its button; absent: a page.
 */
export const ServerList = ({ repo_id, ...frame }: Props) => (
  <ResourcePage
    {...frame}
    what="MCP servers"
    query={serversQuery(repo_id)}
    columns={columns}
    name={({ name }) => name}
    add={{
      text: 'Add server',
      dialog: close => (
        <Dialog title="Add MCP server" on_close={close}>
          <ServerForm repo_id={repo_id} server={null} on_done={close} />
        </Dialog>
      ),
    }}
    actions={server => [
      server.sign_in_state !== null && (
        <SignInButton key="sign-in" repo_id={repo_id} name={server.name} state={server.sign_in_state} />
      ),
      {
        text: 'Edit',
        dialog: close => (
          <Dialog title={server.name} on_close={close}>
            <ServerForm repo_id={repo_id} server={server} on_done={close} />
          </Dialog>
        ),
      },
      { text: 'Delete', dialog: close => <Deletion repo_id={repo_id} name={server.name} on_close={close} /> },
    ]}
    empty={
      <Blank icon={<Blocks />} title="No MCP servers yet">
        Add one for the tools that agents need in addition to their own, such as those of an issue tracker or
        of a database.
      </Blank>
    }
  />
)

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

type DeletionProps = { repo_id: number | null; name: string; on_close: () => void }

const Deletion = ({ repo_id, name, on_close }: DeletionProps) => (
  <ConfirmDialog
    title={`Delete ${name}`}
    action="Delete server"
    send={() =>
      repo_id === null
        ? call('deleteMcpServer', { params: { server: name } })
        : call('deleteRepositoryMcpServer', { params: { repo_id, server: name } })
    }
    refresh={[serversQuery(repo_id)]}
    done={`${name} was deleted`}
    on_close={on_close}
  >
    Agents no longer get its tools from their next turn on. Its credential is deleted too and cannot be
    restored.
  </ConfirmDialog>
)
