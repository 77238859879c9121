import { AdminOnly } from '../../components/admin-only.tsx'
import { ServerList } from '../../components/mcp/server-list.tsx'

/** The MCP servers of the organization. */
export const McpServersPage = () => (
  <AdminOnly heading="MCP servers" what="MCP servers">
    <ServerList
      repo_id={null}
      about="Servers of the Model Context Protocol whose tools agents get in the runs of every repository. A server of a repository with the same name replaces one of these."
    />
  </AdminOnly>
)
