import type { MissingPermission } from '../../../../src/contract/repositories/forges.ts'
import { type Connection, forgesQuery } from '../../api/queries.ts'
import { moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ConfirmDialog } from '../form/confirm-dialog.tsx'
import { useAdminReason } from '../permission.ts'
import { useDialog } from '../resource-page.tsx'
import { forgeKinds } from './forge-kinds.ts'

function MissingPermissions({ missing }: { missing: MissingPermission[] }) {
  return (
    <div className="mt-2 text-xs">
      <h3 className="font-medium text-warn">Missing permissions</h3>
      <ul className="mt-1 space-y-1.5">
        {missing.map(({ resource, problem, fix, detail, repo_ids }) => (
          <li key={resource}>
            {problem} <span className="text-muted">{fix}</span>{' '}
            <span className="text-faint [overflow-wrap:anywhere]">
              {repo_ids.length === 1 ? '1 repository' : `${repo_ids.length} repositories`}. {visible(detail)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** One connection: its account on the forge, whether it works, and a button to disconnect it. */
export function ForgeItem({ connection }: { connection: Connection }) {
  const { kind, url, auth, login, active, problem, missing_permissions, last_used_at, webhook_url } =
    connection
  const forbidden = useAdminReason('connections')
  const { dialog, show } = useDialog()
  const disconnect = (close: () => void) => (
    <ConfirmDialog
      title={`Disconnect ${visible(url)}`}
      action="Disconnect"
      send={() => forgeKinds[kind].disconnect(url)}
      settled={[forgesQuery]}
      on_close={close}
    >
      Its credentials are deleted. Pull requests on the forge stay.
    </ConfirmDialog>
  )
  return (
    <li className="rounded-lg border border-line bg-surface px-3 py-2.5" aria-label={visible(url)}>
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{visible(url)}</span>
        <Badge>{forgeKinds[kind].name}</Badge>
        <Badge tone={active ? 'ok' : 'bad'}>{active ? 'Working' : 'Not working'}</Badge>
        <span className="flex-1" />
        <Button reason={forbidden} onClick={() => show(disconnect)}>
          Disconnect
        </Button>
      </div>
      <p className="mt-1 text-muted text-xs">
        {auth === 'app' ? 'GitHub App' : 'Token'}
        {login !== null && `, as ${visible(login)}`} ·{' '}
        {last_used_at === null ? 'not used yet' : `last used ${moment(last_used_at)}`}
      </p>
      {problem !== null && (
        <p className="mt-1 text-bad text-xs [overflow-wrap:anywhere]">{visible(problem)}</p>
      )}
      {missing_permissions.length > 0 && <MissingPermissions missing={missing_permissions} />}
      <p className="mt-1 flex flex-wrap items-center gap-1 text-2xs text-faint">
        Webhook <code className="font-mono [overflow-wrap:anywhere]">{visible(webhook_url)}</code>
        <CopyButton label="Copy the address of the webhook" text={() => webhook_url} />
      </p>
      {dialog}
    </li>
  )
}
