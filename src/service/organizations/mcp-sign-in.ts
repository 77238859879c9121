import { randomBytes } from 'node:crypto'
import { MCP_SIGN_IN_PATH, mcpServerEndpoints } from '../../contract/endpoints/mcp-servers.ts'
import type { McpServerSettings } from '../../contract/organizations/mcp-servers.ts'
import type { McpSignInResponse } from '../../contract/organizations/mcp-sign-in.ts'
import { organizationOfState } from '../../contract/organizations/sign-in-state.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { mcpCredentialName, mcpSignInName } from '../../core/secrets/mcp-credentials.ts'
import {
  type McpSignIn,
  NOT_SIGNED_IN,
  type PendingSignIn,
  readSignIn,
} from '../../core/secrets/mcp-sign-in.ts'
import { secretContext } from '../../core/secrets/run-secrets.ts'
import { ServiceError } from '../../core/service-error.ts'
import { getMcpServer } from '../../store/access/mcp-servers.ts'
import { getSealedSecret, lockSecrets, saveSecret } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import { audit } from '../access/audit.ts'
import { requireScope } from '../access/authenticate.ts'
import { requireReach } from '../access/reach.ts'
import type { Context, Services } from '../context.ts'
import { requireRepository } from '../repositories/repositories.ts'
import { MAX_SECRETS, signInReceiver } from './mcp-servers.ts'

const SIGN_IN_MS = 600_000

type Key = { organization_id: number; repository_id: number | null; server: string }
type Sealing = Pick<Services, 'sealer'>
/** `user_id`: the person who began. */
type State = Key & { user_id: number; id: string; expires_at: number }
const stateContext = (organization_id: number) => ({ organization_id, scope: 'mcp sign-in', name: 'state' })

/**
 * Begins a sign-in to an MCP server and returns the page of its authorization server. Throws 404 for an
 * unknown server, 409 with the reason when nobody can sign in to it.
 */
export async function startMcpSignIn(ctx: Context, repo_id: number | null, server: string) {
  const { organization_id, actor } = ctx
  if (repo_id !== null) await requireRepository(ctx.db, organization_id, repo_id)
  const key: Key = { organization_id, repository_id: repo_id, server }
  const row = await getMcpServer(ctx.db, organization_id, repo_id, server)
  if (!row) throw new ServiceError('not_found', 'MCP server not found.')
  const { url, sign_in } = row.settings
  if (url === null || sign_in === null)
    throw new ServiceError('conflict', 'Nobody signs in to this server: set `sign_in` first.')
  const [id, expires_at] = [randomBytes(16).toString('base64url'), Date.now() + SIGN_IN_MS]
  const begun = await ctx.mcp_sign_in.begin(organization_id, {
    url,
    issuer: sign_in.issuer,
    scope: sign_in.scope,
    client:
      sign_in.client_id === null
        ? null
        : { client_id: sign_in.client_id, client_secret: await clientSecret(ctx, key) },
    redirect_url: ctx.base_url + MCP_SIGN_IN_PATH,
    state: sealState(ctx, { ...key, user_id: actor.user_id, id, expires_at }),
  })
  if ('problem' in begun)
    throw new ServiceError('conflict', `Nobody can sign in to ${server}: ${begun.problem}.`)
  await ctx.db.transaction(async tx => {
    const before = await lockedSignIn(tx, ctx, key, row.settings)
    const pending: PendingSignIn = { ...begun.pending, id, expires_at }
    await saveSignIn(tx, ctx, key, { ...before, pending }, actor.user_id)
    await audit(
      tx,
      ctx,
      'mcp_server.sign_in_started',
      { type: 'mcp_server', id: server },
      { repo_id, issuer: pending.issuer },
    )
  })
  return { authorization_url: begun.authorization_url, expires_at: new Date(expires_at).toISOString() }
}

/**
 * Returns a sign-in that was begun, for the person who is about to complete it. Throws as `finishMcpSignIn`.
 */
export async function getMcpSignIn(ctx: Context, text: string) {
  const state = await requireState(ctx, text)
  const { server, repository_id, user_id } = state
  const { url, issuer, expires_at } = (await requirePending(ctx.db, ctx, state, false)).pending
  return {
    server,
    repo_id: repository_id,
    url,
    issuer,
    started_by: user_id,
    expires_at: new Date(expires_at).toISOString(),
  }
}

/**
 * Completes a sign-in for a person who may set the server (decisions.md#a-person-signs-in-to-mcp-servers).
 * Each state is used once. Throws 404 for one that is not ours, too old or used, 403 as `setMcpServer`.
 * `problem` null: the person is signed in; otherwise it is stored too.
 */
export async function finishMcpSignIn(
  ctx: Context,
  { state: text, code, iss, error, error_description }: McpSignInResponse,
) {
  const { organization_id, actor } = ctx
  const state = await requireState(ctx, text)
  const { repository_id, server } = state
  const { pending, settings } = await takePending(ctx, state)
  const refused =
    error === undefined
      ? null
      : shown(`${error}${error_description === undefined ? '' : `: ${error_description}`}`)
  const redirect_url = ctx.base_url + MCP_SIGN_IN_PATH
  const tokens =
    refused !== null
      ? { problem: `the authorization server refused it: ${refused}` }
      : code === undefined
        ? { problem: 'the authorization server passed no code' }
        : await ctx.mcp_sign_in.exchange(organization_id, pending, { code, iss, redirect_url })
  const problem = 'problem' in tokens ? tokens.problem : null
  await ctx.db.transaction(async tx => {
    const before = await lockedSignIn(tx, ctx, state, settings)
    const { id, code_verifier, names_issuer, expires_at, ...party } = pending
    const grant = 'problem' in tokens ? before.grant : { ...party, ...tokens, signed_in_at: Date.now() }
    await saveSignIn(tx, ctx, state, { ...before, grant, problem }, actor.user_id)
    if (problem !== null) return
    const detail = { repo_id: repository_id, issuer: pending.issuer, started_by: state.user_id }
    await audit(tx, ctx, 'mcp_server.signed_in', { type: 'mcp_server', id: server }, detail)
  })
  return { server, repo_id: repository_id, problem }
}

/**
 * Returns the state of a sign-in if the caller may set its server: the checks are those of the operation that
 * sets it.
 */
async function requireState(ctx: Context, text: string): Promise<State> {
  const state = readState(ctx, text)
  const { repository_id } = state
  const { setMcpServer, setRepositoryMcpServer } = mcpServerEndpoints
  const setting = repository_id === null ? setMcpServer : setRepositoryMcpServer
  requireScope(ctx.actor, ctx.role, setting.scope)
  await requireReach(ctx, setting, { params: { repo_id: repository_id }, query: {}, body: {} })
  return state
}

/** Takes the sign-in that the state names, so that nothing can complete it again. */
async function takePending(ctx: Context, state: State) {
  return ctx.db.transaction(async tx => {
    await lockSecrets(tx, state.organization_id)
    const { sign_in, ...taken } = await requirePending(tx, ctx, state, true)
    await saveSignIn(tx, ctx, state, { ...sign_in, pending: null }, ctx.actor.user_id)
    return taken
  })
}

/**
 * Returns the sign-in that the state names, with the settings of its server. Throws 404 when it was used,
 * replaced or its server has changed.
 */
async function requirePending(db: Db, services: Sealing, state: State, lock: boolean) {
  const row = await getMcpServer(db, state.organization_id, state.repository_id, state.server)
  const sign_in = await openSignIn(db, services, state, lock)
  const { pending } = sign_in
  if (!row || pending?.id !== state.id || pending.url !== row.settings.url || row.settings.sign_in === null)
    throw stale()
  return { pending, settings: row.settings, sign_in }
}

/** Returns the sign-in, locked. Throws 404 when the server has changed since `settings` were read. */
async function lockedSignIn(
  tx: Db,
  services: Sealing,
  key: Key,
  settings: McpServerSettings,
): Promise<McpSignIn> {
  await lockSecrets(tx, key.organization_id)
  const row = await getMcpServer(tx, key.organization_id, key.repository_id, key.server)
  if (!row || signInReceiver(row.settings) !== signInReceiver(settings)) throw stale()
  return openSignIn(tx, services, key, true)
}

async function openSignIn(
  db: Db,
  { sealer }: Sealing,
  { organization_id, repository_id, server }: Key,
  lock: boolean,
) {
  const name = mcpSignInName(server)
  const row = await getSealedSecret(db, organization_id, repository_id, name, lock)
  const text = row && opened(() => sealer.open(secretContext(organization_id, repository_id, name), row))
  return text == null ? NOT_SIGNED_IN : readSignIn(text)
}

async function saveSignIn(
  tx: Db,
  { sealer }: Sealing,
  { organization_id, repository_id, server }: Key,
  value: McpSignIn,
  user_id: number,
) {
  const name = mcpSignInName(server)
  const sealed = sealer.seal(secretContext(organization_id, repository_id, name), JSON.stringify(value))
  if (
    !(await saveSecret(
      tx,
      { organization_id, repository_id, name, ...sealed, for_agent: false, user_id },
      MAX_SECRETS,
    ))
  )
    throw new ServiceError('conflict', 'There are too many secrets: delete one first.')
}

async function clientSecret(
  ctx: Context,
  { organization_id, repository_id, server }: Key,
): Promise<string | null> {
  const name = mcpCredentialName(server)
  const row = await getSealedSecret(ctx.db, organization_id, repository_id, name)
  return row === undefined ? null : ctx.sealer.open(secretContext(organization_id, repository_id, name), row)
}

const stale = () =>
  new ServiceError(
    'not_found',
    'This sign-in is not of this organization, too old, used already, or its server has changed. Begin again in the settings.',
  )

function sealState(
  { sealer }: Sealing,
  { organization_id, repository_id, server, user_id, id, expires_at }: State,
): string {
  const packed = JSON.stringify([repository_id, server, user_id, id, expires_at])
  const { key_id, sealed } = sealer.seal(stateContext(organization_id), packed)
  return `${organization_id}.${key_id}.${sealed.toString('base64url')}`
}

function readState({ sealer, organization_id }: Context, text: string): State {
  const [, key_id = '', sealed = ''] = /^\d{1,15}\.([0-9a-f]{1,64})\.([\w-]{1,420})$/.exec(text) ?? []
  const packed =
    organizationOfState(text) === organization_id
      ? opened(() =>
          sealer.open(stateContext(organization_id), { key_id, sealed: Buffer.from(sealed, 'base64url') }),
        )
      : null
  if (packed === null) throw stale()
  const [repository_id, server, user_id, id, expires_at] =
    storedJson<[number | null, string, number, string, number]>(packed)
  if (Date.now() > expires_at) throw stale()
  return { organization_id, repository_id, server, user_id, id, expires_at }
}

function opened<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

const MAX_SHOWN = 300
const shown = (text: string) =>
  [...text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').toWellFormed()].slice(0, MAX_SHOWN).join('')
