import { McpServerSettings } from '../../contract/organizations/mcp-servers.ts'
import type { Window } from '../../core/paging.ts'
import type { SealedSecret } from '../../core/secrets/run-secrets.ts'
import { type Db, only } from '../database.ts'
import { parseColumn } from '../json-column.ts'
import { listPage } from '../list-page.ts'

/** `repository_id` null: of the whole organization. */
export type McpServerRow = {
  name: string
  repository_id: number | null
  settings: McpServerSettings
  created_at: Date
  updated_at: Date
  updated_by: number
}
type StoredRow = Omit<McpServerRow, 'settings'> & { settings: string }
const parseRow = (row: StoredRow): McpServerRow => ({
  ...row,
  settings: parseColumn(McpServerSettings, row.settings),
})
const columns = 'name, repository_id, settings, created_at, updated_at, updated_by'

/** Returns one page by name. `repository_id` null: those of the whole organization. */
export async function listMcpServers(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  window: Window,
): Promise<{ rows: McpServerRow[]; total: number }> {
  const where = 'organization_id = $1 and repository_id is not distinct from $2'
  const list = {
    columns,
    from: 'mcp_servers',
    where,
    key: 'name collate "C"',
    type: 'text',
    order: 'asc',
  } as const
  const { rows, total } = await listPage<StoredRow>(
    db,
    { name: 'list_mcp_servers', ...list },
    [organization_id, repository_id],
    window,
  )
  return { rows: rows.map(parseRow), total }
}

/** Returns undefined when it does not exist. */
export async function getMcpServer(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
): Promise<McpServerRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'get_mcp_server',
    text: `select ${columns}
      from mcp_servers
      where organization_id = $1 and repository_id is not distinct from $2 and name = $3`,
    values: [organization_id, repository_id, name],
  })
  return rows[0] && parseRow(rows[0])
}

type NewMcpServer = {
  organization_id: number
  repository_id: number | null
  name: string
  settings: McpServerSettings
  user_id: number
}

/**
 * Creates or replaces a server; creates one only while there are fewer than `max`, with the secrets locked.
 * Undefined: there are too many.
 */
export async function saveMcpServer(
  db: Db,
  server: NewMcpServer,
  max: number,
): Promise<McpServerRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'save_mcp_server',
    text: `insert into mcp_servers (organization_id, repository_id, name, settings, updated_by)
      select $1, $2, $3, $4, $5
      where exists (
          select 1
          from mcp_servers
          where organization_id = $1 and repository_id is not distinct from $2 and name = $3
        )
        or (
          select count(*)
          from mcp_servers
          where organization_id = $1 and repository_id is not distinct from $2
        ) < $6
      on conflict (organization_id, repository_id, name)
        do update set settings = excluded.settings, updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [
      server.organization_id,
      server.repository_id,
      server.name,
      JSON.stringify(server.settings),
      server.user_id,
      max,
    ],
  })
  return rows[0] && parseRow(rows[0])
}

/** Deletes a server and returns it; undefined when it does not exist. */
export async function deleteMcpServer(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
): Promise<McpServerRow | undefined> {
  const { rows } = await db.query<StoredRow>({
    name: 'delete_mcp_server',
    text: `delete from mcp_servers
      where organization_id = $1 and repository_id is not distinct from $2 and name = $3
      returning ${columns}`,
    values: [organization_id, repository_id, name],
  })
  return rows[0] && parseRow(rows[0])
}

/** Deletes all servers of a removed repository. */
export async function deleteMcpServersOf(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<void> {
  await db.query({
    name: 'delete_mcp_servers_of',
    text: 'delete from mcp_servers where organization_id = $1 and repository_id = $2',
    values: [organization_id, repository_id],
  })
}

/**
 * Reserves the renewal of the sign-in to a server: of all processes, one renews it at a time. Returns what
 * ends the reservation early; undefined while another one lasts, or when the server does not exist.
 */
export async function reserveRenewal(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
  seconds: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ until: string }>({
    name: 'reserve_renewal',
    text: `update mcp_servers
      set renewing_until = clock_timestamp() + make_interval(secs => $4)
      where organization_id = $1
        and repository_id is not distinct from $2
        and name = $3
        and (renewing_until is null or renewing_until < clock_timestamp())
      returning renewing_until::text as until`,
    values: [organization_id, repository_id, name, seconds],
  })
  return rows[0]?.until
}

/** Ends a reservation, unless another one has followed it. */
export async function endRenewal(
  db: Db,
  organization_id: number,
  repository_id: number | null,
  name: string,
  until: string,
): Promise<void> {
  await db.query({
    name: 'end_renewal',
    text: `update mcp_servers
      set renewing_until = null
      where organization_id = $1
        and repository_id is not distinct from $2
        and name = $3
        and renewing_until = $4::timestamptz`,
    values: [organization_id, repository_id, name, until],
  })
}

/** A server of a run, without who set it. */
export type RunMcpServer = Pick<McpServerRow, 'name' | 'repository_id' | 'settings'>
type RunRow = {
  secrets: (Omit<SealedSecret, 'sealed'> & { sealed: string })[]
  servers: (Omit<RunMcpServer, 'settings'> & { settings: string })[]
}

/**
 * Returns the sealed secrets and the MCP servers of a run on that repository (null: no repository), in one
 * statement, because every run reads both. Those of the organization come first.
 */
export async function listSecretsAndMcpServers(
  db: Db,
  organization_id: number,
  repository_id: number | null,
): Promise<{ secrets: SealedSecret[]; servers: RunMcpServer[] }> {
  const { rows } = await db.query<RunRow>({
    name: 'list_secrets_and_mcp_servers',
    text: `select (
          select coalesce(
            json_agg(
              json_build_object(
              'name', name, 'repository_id', repository_id, 'for_agent', for_agent, 'key_id', key_id,
              'sealed', encode(sealed, 'base64')
            ) order by id
            ), '[]'
          )
          from secrets
          where organization_id = $1 and (repository_id is null or repository_id = $2)
        ) as secrets,
        (
          select coalesce(
            json_agg(
              json_build_object(
                'name', name, 'repository_id', repository_id, 'settings', settings
              ) order by repository_id nulls first, name collate "C"
            ), '[]'
          )
          from mcp_servers
          where organization_id = $1 and (repository_id is null or repository_id = $2)
        ) as servers`,
    values: [organization_id, repository_id],
  })
  const { secrets, servers } = only(rows)
  return {
    secrets: secrets.map(secret => ({ ...secret, sealed: Buffer.from(secret.sealed, 'base64') })),
    servers: servers.map(server => ({
      ...server,
      settings: parseColumn(McpServerSettings, server.settings),
    })),
  }
}
