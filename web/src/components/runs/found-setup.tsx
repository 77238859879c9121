import type { FoundSetupCommands } from '../../../../src/contract/repositories/setup-commands.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useRequest } from '../form/use-request.ts'
import { useRepositoryReason } from '../permission.ts'

/** The proposed commands, how they were verified, and a button that saves them if the repository has none. */
export default function FoundSetup({ run, found }: { run: AgentRun; found: FoundSetupCommands }) {
  const { commands, verified, saved, reason, detail } = found
  const forbidden = useRepositoryReason()
  const use = useRequest(
    () => call('setSetupCommands', { params: { repo_id: run.repo_id ?? 0 }, body: { commands } }),
    { refresh: [{ queryKey: ['setup-commands', run.repo_id] }] },
  )
  return (
    <div className="space-y-3">
      <Notice tone={verified ? 'info' : 'warn'}>
        <strong>{verified ? 'Verified in a clean sandbox' : `Not verified: ${visible(reason ?? '')}`}</strong>
        <p className="whitespace-pre-wrap break-words">{visible(detail)}</p>
      </Notice>
      {commands.length === 0 ? (
        <p className="text-faint">{verified ? 'The repository needs no setup.' : 'There are no commands.'}</p>
      ) : (
        <ol aria-label="Setup commands" className="space-y-1 font-mono text-xs">
          {commands.map(command => (
            <li key={command} className="whitespace-pre-wrap break-all">
              {visible(command)}
            </li>
          ))}
        </ol>
      )}
      {saved && <p className="text-faint text-xs">Saved as the setup commands of the repository.</p>}
      {!saved && commands.length > 0 && run.repo_id !== null && (
        <Button variant="primary" reason={forbidden} busy={use.isPending} onClick={() => use.mutate()}>
          {use.isSuccess ? 'Saved' : 'Use these commands'}
        </Button>
      )}
      {use.isError && <Notice tone="bad">{use.error.message}</Notice>}
    </div>
  )
}
