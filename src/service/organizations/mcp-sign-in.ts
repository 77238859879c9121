import { randomBytes } from 'node:crypto'
import { MCP_SIGN_IN_PATH } from '../../contract/endpoints/mcp-servers.ts'
import type { McpServerSettings } from '../../contract/organizations/mcp-servers.ts'
import type { McpSignInCallback } from '../../contract/organizations/mcp-sign-in.ts'
import { roleScopes } from '../../core/access/permissions.ts'
import { storedJson } from '../../core/json.ts'
import { mcpCredentialName, mcpSignInName } from '../../core/secrets/mcp-credentials.ts'
import { type McpSignIn, NOT_SIGNED_IN, type PendingSignIn, readSignIn } from '../../core/secrets/mcp-sign-in.ts'
import { secretContext } from '../../core/secrets/run-secrets.ts'
import { ServiceError } from '../../core/service-error.ts'
import { getMember } from '../../store/access/accounts.ts'
import { getMcpServer } from '../../store/access/mcp-servers.ts'
import { getSealedSecret, lockSecrets, saveSecret } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import { audit } from '../access/audit.ts'
import type { Context, Services } from '../context.ts'
import { requireRepository } from '../repositories/repositories.ts'
import { MAX_SECRETS, signInReceiver } from './mcp-servers.ts'

const SIGN_IN_MS = 600_000

type Key = { organization_id: number; repository_id: number | null; server: string }
type Sealing = Pick<Services, 'sealer'>
type State = Key & { user_id: number; token_id: number; id: string; expires_at: number }
const stateContext = { organization_id: 0, scope: 'mcp sign-in', name: 'state' }

/**
 * Begins a sign-in to an MCP server and returns the page of its authorization server. Throws 404 for an unknown server, 409 with the reason when
 * nobody can sign in to it.
 */
export async function startMcpSignIn(ctx: Context, repo_id: number | null, server: string) {
  const { organization_id, actor } = ctx
  if (repo_id !== null) await requireRepository(ctx.db, organization_id, repo_id)
  const key: Key = { organization_id, repository_id: repo_id, server }
  const row = await getMcpServer(ctx.db, organization_id, repo_id, server)
  if (!row) throw new ServiceError('not_found', 'MCP server not found.')
  const { url, sign_in } = row.settings
  if (url === null || sign_in === null) throw new ServiceError('conflict', 'Nobody signs in to this server: set `sign_in` first.')
  const [id, expires_at] = [randomBytes(16).toString('base64url'), Date.now() + SIGN_IN_MS]
  const begun = await ctx.mcp_sign_in.begin(organization_id, {
    ...{ url, issuer: sign_in.issuer, scope: sign_in.scope },
    client: sign_in.client_id === null ? null : { client_id: sign_in.client_id, client_secret: await clientSecret(ctx, key) },
    redirect_url: ctx.base_url + MCP_SIGN_IN_PATH,
    state: sealState(ctx, { ...key, user_id: actor.user_id, token_id: actor.token_id, id, expires_at }),
  })
  if ('problem' in begun) throw new ServiceError('conflict', `Nobody can sign in to ${server}: ${begun.problem}.`)
  await ctx.db.transaction(async tx => {
    const before = await lockedSignIn(tx, ctx, key, row.settings)
    const pending: PendingSignIn = { ...begun.pending, id, expires_at }
    await saveSignIn(tx, ctx, key, { ...before, pending }, actor.user_id)
    await audit(tx, ctx, 'mcp_server.sign_in_started', { type: 'mcp_server', id: server }, { repo_id, issuer: pending.issuer })
  })
  return { authorization_url: begun.authorization_url, expires_at: new Date(expires_at).toISOString() }
}

/**
 * Completes a sign-in. Each state is used once. Throws 401 for one that is not ours, too old or used, or whose person may no longer set the
 * server. `problem` null: the person is signed in; otherwise the reason is stored too, for the settings. `back`: the path of the settings.
 */
export async function finishMcpSignIn(services: Services, { state: text, code, iss, error, error_description }: McpSignInCallback) {
  const state = readState(services, text)
  const { organization_id, repository_id, server } = state
  const back = repository_id === null ? '/settings/mcp-servers' : `/repositories/${repository_id}/mcp-servers`
  await requirePerson(services, state)
  const { pending, settings } = await takePending(services, state)
  const refused = error === undefined ? null : shown(`${error}${error_description === undefined ? '' : `: ${error_description}`}`)
  const redirect_url = services.base_url + MCP_SIGN_IN_PATH
  const tokens =
    refused !== null
      ? { problem: `the authorization server refused it: ${refused}` }
      : code === undefined
        ? { problem: 'the authorization server passed no code' }
        : await services.mcp_sign_in.exchange(organization_id, pending, { code, iss, redirect_url })
  const problem = 'problem' in tokens ? tokens.problem : null
  await services.db.transaction(async tx => {
    const before = await lockedSignIn(tx, services, state, settings)
    const { id, code_verifier, names_issuer, expires_at, ...party } = pending
    const grant = 'problem' in tokens ? before.grant : { ...party, ...tokens, signed_in_at: Date.now() }
    await saveSignIn(tx, services, state, { ...before, grant, problem }, state.user_id)
    if (problem !== null) return
    const who = { organization_id, actor: { user_id: state.user_id, token_id: state.token_id }, request_id: null }
    const detail = { repo_id: repository_id, issuer: pending.issuer }
    await audit(tx, who, 'mcp_server.signed_in', { type: 'mcp_server', id: server }, detail)
  })
  return { server, problem, back: services.base_url + back }
}

/** Takes the sign-in that the state names, so that nothing can complete it again. */
async function takePending(services: Services, state: State): Promise<{ pending: PendingSignIn; settings: McpServerSettings }> {
  const { organization_id, repository_id, server } = state
  return services.db.transaction(async tx => {
    await lockSecrets(tx, organization_id)
    const row = await getMcpServer(tx, organization_id, repository_id, server)
    const signIn = await openSignIn(tx, services, state, true)
    const { pending } = signIn
    if (!row || pending?.id !== state.id || pending.url !== row.settings.url || row.settings.sign_in === null) throw stale()
    await saveSignIn(tx, services, state, { ...signIn, pending: null }, state.user_id)
    return { pending, settings: row.settings }
  })
}

/** Returns the sign-in, locked. Throws 401 when the server has changed since `settings` were read. */
async function lockedSignIn(tx: Db, services: Sealing, key: Key, settings: McpServerSettings): Promise<McpSignIn> {
  await lockSecrets(tx, key.organization_id)
  const row = await getMcpServer(tx, key.organization_id, key.repository_id, key.server)
  if (!row || signInReceiver(row.settings) !== signInReceiver(settings)) throw stale()
  return openSignIn(tx, services, key, true)
}

async function openSignIn(db: Db, { sealer }: Sealing, { organization_id, repository_id, server }: Key, lock: boolean) {
  const name = mcpSignInName(server)
  const row = await getSealedSecret(db, organization_id, repository_id, name, lock)
  const text = row && opened(() => sealer.open(secretContext(organization_id, repository_id, name), row))
  return text == null ? NOT_SIGNED_IN : readSignIn(text)
}

async function saveSignIn(tx: Db, { sealer }: Sealing, { organization_id, repository_id, server }: Key, value: McpSignIn, user_id: number) {
  const name = mcpSignInName(server)
  const sealed = sealer.seal(secretContext(organization_id, repository_id, name), JSON.stringify(value))
  if (!(await saveSecret(tx, { organization_id, repository_id, name, ...sealed, for_agent: false, user_id }, MAX_SECRETS)))
    throw new ServiceError('conflict', 'There are too many secrets: delete one first.')
}

async function clientSecret(ctx: Context, { organization_id, repository_id, server }: Key): Promise<string | null> {
  const name = mcpCredentialName(server)
  const row = await getSealedSecret(ctx.db, organization_id, repository_id, name)
  return row === undefined ? null : ctx.sealer.open(secretContext(organization_id, repository_id, name), row)
}

async function requirePerson({ db }: Services, { organization_id, repository_id, user_id }: State): Promise<void> {
  const role = (await getMember(db, organization_id, user_id))?.role
  if (!role || !roleScopes[role].includes(repository_id === null ? 'org:admin' : 'repos:admin')) throw stale()
}

const stale = () =>
  new ServiceError('unauthorized', 'This sign-in is not ours, too old, used already, or its server has changed: begin again.')

function sealState({ sealer }: Sealing, { organization_id, repository_id, server, user_id, token_id, id, expires_at }: State): string {
  const packed = JSON.stringify([organization_id, repository_id, server, user_id, token_id, id, expires_at])
  const { key_id, sealed } = sealer.seal(stateContext, packed)
  return `${key_id}.${sealed.toString('base64url')}`
}

function readState({ sealer }: Sealing, text: string): State {
  const [, key_id = '', sealed = ''] = /^([0-9a-f]{1,64})\.([\w-]{1,420})$/.exec(text) ?? []
  const packed = opened(() => sealer.open(stateContext, { key_id, sealed: Buffer.from(sealed, 'base64url') }))
  if (packed === null) throw stale()
  const [organization_id, repository_id, server, user_id, token_id, id, expires_at] =
    storedJson<[number, number | null, string, number, number, string, number]>(packed)
  if (Date.now() > expires_at) throw stale()
  return { organization_id, repository_id, server, user_id, token_id, id, expires_at }
}

function opened<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

const MAX_SHOWN = 300
const shown = (text: string) => [...text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').toWellFormed()].slice(0, MAX_SHOWN).join('')
