import { AdminOnly } from '../../components/admin-only.tsx'
import { ServerList } from '../../components/mcp/server-list.tsx'
import { Page } from '../../components/page.tsx'

const ABOUT =
  'Servers of the Model Context Protocol whose tools agents get in the runs of every repository. A server of a repository with the same name replaces one of these.'

/** The MCP servers of the organization. */
export const McpServersPage = () => (
  <AdminOnly heading="MCP servers" what="MCP servers">
    <ServerList
      repo_id={null}
      frame={(button, list, count) => (
        <Page heading="MCP servers" note={count} about={ABOUT} actions={button}>
          {list}
        </Page>
      )}
    />
  </AdminOnly>
)
