import { limits } from '../../contract/limits.ts'
import {
  type McpServerInput,
  type McpServerSettings,
  mcpServerSettings,
} from '../../contract/organizations/mcp-servers.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { mcpCredentialName, mcpSignInName } from '../../core/secrets/mcp-credentials.ts'
import { NOT_SIGNED_IN, readSignIn, signInState } from '../../core/secrets/mcp-sign-in.ts'
import { type SealedSecret, secretContext } from '../../core/secrets/run-secrets.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import {
  deleteMcpServer as deleteMcpServerRow,
  getMcpServer,
  listMcpServers as listMcpServerRows,
  type McpServerRow,
  saveMcpServer,
} from '../../store/access/mcp-servers.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import { deleteSecret, listSealedSecrets, lockSecrets } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from '../repositories/repositories.ts'
import { saveServiceSecret } from './service-secret.ts'

/** Credentials are secrets, of which there are at most 100 others and the keys of models. */
export const MAX_SECRETS = 300

type SignInStatus = ReturnType<typeof signInState> | null

const serverObject = (
  { name, repository_id, settings, ...row }: McpServerRow,
  has_credential: boolean,
  sign_in_state: SignInStatus,
) => ({
  name,
  repo_id: repository_id,
  ...settings,
  has_credential,
  sign_in_state,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  updated_by: row.updated_by,
})

/**
 * Returns one page of MCP servers by name, without their credentials. `repo_id` null: those of the
 * organization.
 */
export async function listMcpServers(ctx: Context, repo_id: number | null, query: PageRequest) {
  if (repo_id !== null) await requireRepository(ctx.db, ctx.organization_id, repo_id)
  const window = pageWindow(query)
  const { rows, total } = await listMcpServerRows(ctx.db, ctx.organization_id, repo_id, window)
  const set = await credentialsOf(ctx.db, ctx, repo_id)
  return {
    items: rows.map(row => serverObject(row, set.has(mcpCredentialName(row.name)), stateOf(ctx, set, row))),
    total,
    ...pageNumbers(total, window),
  }
}

/** Returns the secrets of the organization, or of the repository, itself by their names. */
async function credentialsOf(
  db: Db,
  { organization_id }: Context,
  repo_id: number | null,
): Promise<Map<string, SealedSecret>> {
  const rows = await listSealedSecrets(db, organization_id, repo_id)
  return new Map(rows.flatMap(row => (row.repository_id === repo_id ? [[row.name, row]] : [])))
}

/**
 * Returns the state of the sign-in to a server, as one that no key opens is none; null: nobody signs in to
 * it.
 */
function stateOf(
  { sealer, organization_id }: Context,
  secrets: Map<string, SealedSecret>,
  { name, repository_id, settings }: McpServerRow,
): SignInStatus {
  if (settings.sign_in === null) return null
  const stored = secrets.get(mcpSignInName(name))
  if (stored === undefined) return signInState(NOT_SIGNED_IN, Date.now())
  try {
    return signInState(
      readSignIn(sealer.open(secretContext(organization_id, repository_id, stored.name), stored)),
      Date.now(),
    )
  } catch {
    return signInState(NOT_SIGNED_IN, Date.now())
  }
}

/**
 * Creates or replaces an MCP server. Throws 400 when another address would get the credential that was set
 * for the previous one, 409 when there would be too many.
 */
export async function setMcpServer(
  ctx: Context,
  repo_id: number | null,
  name: string,
  { credential, ...input }: McpServerInput,
) {
  const settings = mcpServerSettings(input)
  return ctx.db.transaction(async tx => {
    const { organization_id } = ctx
    if (repo_id !== null && !(await holdRepository(tx, organization_id, repo_id))) throw repositoryNotFound()
    await lockSecrets(tx, organization_id)
    const before = await getMcpServer(tx, organization_id, repo_id, name)
    const secrets = await credentialsOf(tx, ctx, repo_id)
    const had = secrets.has(mcpCredentialName(name))
    const kept = settings.url === null || settings.sign_in?.client_id === null ? null : credential
    if (kept === undefined && had && before && receiverOf(before.settings) !== receiverOf(settings))
      throw invalid(
        ['body', 'credential'],
        'is required with another address, or null: the credential was set for the previous one',
      )
    const server = { organization_id, repository_id: repo_id, name, settings, user_id: ctx.actor.user_id }
    const row = await saveMcpServer(tx, server, limits.mcp_servers)
    if (!row)
      throw new ServiceError(
        'conflict',
        `There are already ${limits.mcp_servers} MCP servers: delete one first.`,
      )
    if (kept !== undefined) {
      const secret = { repository_id: repo_id, name: mcpCredentialName(name), value: kept }
      await saveServiceSecret(tx, ctx, secret, MAX_SECRETS)
    }
    if (!before || signInReceiver(before.settings) !== signInReceiver(settings) || kept != null) {
      await deleteSecret(tx, organization_id, repo_id, mcpSignInName(name))
      secrets.delete(mcpSignInName(name))
    }
    const has_credential = kept === undefined ? had : kept !== null
    if (settings.oauth !== null && !has_credential)
      throw invalid(['body', 'credential'], 'is required with oauth: the secret of the client')
    const { command, url, tools, enabled } = settings
    await audit(
      tx,
      ctx,
      'mcp_server.set',
      { type: 'mcp_server', id: name },
      { repo_id, command, url, tools, enabled, has_credential },
    )
    return serverObject(row, has_credential, stateOf(ctx, secrets, row))
  })
}

/** Where the credential goes, and what it opens: a token for it goes to the address. */
const receiverOf = ({ url, oauth, sign_in }: McpServerSettings): string | null =>
  url === null ? null : `${new URL(url).origin} ${oauth?.issuer ?? sign_in?.issuer ?? ''}`

/** What a sign-in is for: it does not count for other settings. Null: nobody signs in. */
export const signInReceiver = ({ url, sign_in }: McpServerSettings): string | null =>
  sign_in === null ? null : JSON.stringify([url, sign_in.client_id, sign_in.issuer, sign_in.scope])

/** Deletes an MCP server with its credential, and returns it. Throws 404 when it does not exist. */
export async function deleteMcpServer(ctx: Context, repo_id: number | null, name: string) {
  return ctx.db.transaction(async tx => {
    if (repo_id !== null) await requireRepository(tx, ctx.organization_id, repo_id)
    const row = await deleteMcpServerRow(tx, ctx.organization_id, repo_id, name)
    if (!row) throw new ServiceError('not_found', 'MCP server not found.')
    const state = stateOf(ctx, await credentialsOf(tx, ctx, repo_id), row)
    const secret = await deleteSecret(tx, ctx.organization_id, repo_id, mcpCredentialName(name))
    await deleteSecret(tx, ctx.organization_id, repo_id, mcpSignInName(name))
    await audit(tx, ctx, 'mcp_server.deleted', { type: 'mcp_server', id: name }, { repo_id })
    return serverObject(row, secret !== undefined, state)
  })
}
