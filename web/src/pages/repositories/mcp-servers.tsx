import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { meQuery, repositoryQuery } from '../../api/queries.ts'
import { useRequest } from '../../components/form/use-request.ts'
import { ServerList } from '../../components/mcp/server-list.tsx'
import { PageTitle } from '../../components/page.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { visible } from '../../text/visible.ts'
import { Switch } from '../../ui/field.tsx'
import { Forbidden, Notice } from '../../ui/notice.tsx'
import { useRepository } from './use-repository.ts'

/** The MCP servers of a repository, and whether its runs use those of its `.mcp.json`. */
export function RepositoryMcpServers() {
  const { id, full_name } = useRepository()
  const known = useQuery(meQuery).isSuccess
  const forbidden = useRepositoryReason()
  return (
    <>
      <PageTitle>{`MCP servers · ${full_name}`}</PageTitle>
      {forbidden !== null && <Forbidden>{forbidden}, and MCP servers belong to it.</Forbidden>}
      {known && forbidden === null && (
        <div className="max-w-4xl space-y-8">
          <ServerList
            repo_id={id}
            frame={(button, list) => (
              <section aria-labelledby="servers" className="space-y-4">
                <div className="flex flex-wrap items-start justify-between gap-4">
                  <p id="servers" className="max-w-xl text-muted text-sm">
                    Servers of the Model Context Protocol whose tools agents get in the runs of this
                    repository. A server replaces the one of the organization with its name; one that is
                    disabled turns that off.
                  </p>
                  {button}
                </div>
                {list}
              </section>
            )}
          />
          <OwnFile />
        </div>
      )}
    </>
  )
}

function OwnFile() {
  const { id, use_mcp_file } = useRepository()
  const save = useRequest(
    (use: boolean) => call('updateRepository', { params: { repo_id: id }, body: { use_mcp_file: use } }),
    { stored: repositoryQuery(id), done: 'Saved' },
  )
  return (
    <section aria-labelledby="own-file" className="max-w-xl space-y-2">
      <h2 id="own-file" className="font-semibold">
        .mcp.json of the repository
      </h2>
      <p className="text-muted text-sm">
        Everybody who can push chooses the programs and addresses in it. Programs run in the sandbox of the
        run, and addresses are under its network rules.
      </p>
      <Switch
        label="Use the servers that the base commit of a run names"
        checked={use_mcp_file}
        disabled={save.isPending}
        onChange={event => save.mutate(event.target.checked)}
      />
      {save.error && <Notice tone="bad">{visible(save.error.message)}</Notice>}
    </section>
  )
}
