import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { mcpServerSettings } from '../../../src/contract/organizations/mcp-servers.ts'
import type { Grant, Tokens } from '../../../src/core/secrets/mcp-sign-in.ts'
import { secretContext } from '../../../src/core/secrets/run-secrets.ts'
import { createSealer } from '../../../src/core/secrets/sealing.ts'
import { reserveRenewal, saveMcpServer } from '../../../src/store/access/mcp-servers.ts'
import { saveSecret } from '../../../src/store/access/secrets.ts'
import { Database } from '../../../src/store/database.ts'
import { signInTokens } from '../../../src/worker/sandbox/sign-in-tokens.ts'
import { type App, rows, startApp } from '../../start-app.ts'

/** Runs of several processes that need the same token at the same time. */
let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const sealer = createSealer(randomBytes(32))
const name = 'AGENTRUN_MCP_SIGN_IN_TICKETS'
const key = () => ({ organization_id: app.org_id, repository_id: null, server: 'tickets' })
const grant = (tokens: Tokens): Grant => ({
  url: 'https://mcp.example.com/mcp',
  issuer: 'https://auth.example.com',
  token_endpoint: 'https://auth.example.com/token',
  resource: null,
  client_id: 'c',
  client_secret: null,
  auth_method: 'none',
  signed_in_at: 1,
  ...tokens,
})
const ending: Tokens = { access_token: 'access-token-1', refresh_token: 'refresh-token-1', expires_at: 1 }
const renewed: Tokens = { access_token: 'access-token-2', refresh_token: 'refresh-token-2', expires_at: null }
const save = (tokens: Tokens) => {
  const value = JSON.stringify({ pending: null, problem: null, grant: grant(tokens) })
  const sealed = sealer.seal(secretContext(app.org_id, null, name), value)
  const secret = {
    organization_id: app.org_id,
    repository_id: null,
    name,
    ...sealed,
    for_agent: false,
    user_id: app.user_id,
  }
  return saveSecret(app.db, secret, 300)
}
beforeEach(async () => {
  const settings = mcpServerSettings({
    url: 'https://mcp.example.com/mcp',
    sign_in: { client_id: null, issuer: null, scope: null },
  })
  await saveMcpServer(
    app.db,
    { organization_id: app.org_id, repository_id: null, name: 'tickets', settings, user_id: app.user_id },
    20,
  )
  await save(ending)
})
const reserved = async () => (await rows(app, 'select renewing_until from mcp_servers'))[0]?.renewing_until

/** The tokens of one run, and the number of its attempts to reserve the renewal. */
function runOf(
  db: Database,
  renewSignIn: Parameters<typeof signInTokens>[0]['renewSignIn'],
  onAttempt = () => {},
) {
  const counted = {
    query: ((statement: { name?: string }) => {
      if (statement.name === 'reserve_renewal') onAttempt()
      return db.query(statement as never)
    }) as Database['query'],
    transaction: db.transaction.bind(db),
  }
  return signInTokens({ db: counted, sealer, known_values: [], renewSignIn }, key())
}

test('eight runs of two processes send one request, and all use the token that it returned', async () => {
  await using other = new Database(app.database_url, { max: 4, on_error: () => {} })
  const all = Promise.withResolvers<void>()
  const sent: string[] = []
  let attempts = 0
  const attempted = () => {
    attempts++
    if (attempts >= 8) all.resolve()
  }
  const renew = async (_: number, __: Grant, refresh_token: string) => {
    sent.push(refresh_token)
    await all.promise
    return renewed
  }
  const runs = Array.from({ length: 8 }, (_, at) => runOf(at % 2 === 0 ? app.db : other, renew, attempted))
  expect(await Promise.all(runs.map(run => run.current()))).toEqual(Array(8).fill('access-token-2'))
  expect(sent).toEqual(['refresh-token-1'])
  expect(await reserved()).toBe(null)
})

test('a sign-in during a renewal counts, and the token of the renewal is dropped', async () => {
  const again: Tokens = {
    ...renewed,
    access_token: 'access-token-of-a-person',
    refresh_token: 'refresh-token-of-a-person',
  }
  const tokens = runOf(app.db, async () => {
    await save(again)
    return renewed
  })
  expect(await tokens.current()).toBe('access-token-of-a-person')
})

test('a renewal whose process died is repeated when its reservation has ended, and not before', async () => {
  const reserve = (seconds: number) => reserveRenewal(app.db, app.org_id, null, 'tickets', seconds)
  expect(await reserve(3_600)).toBeTypeOf('string')
  expect(await reserve(3_600)).toBe(undefined)
  await rows(app, `update mcp_servers set renewing_until = now() - interval '1 second'`)
  expect(await runOf(app.db, async () => renewed).current()).toBe('access-token-2')
})

test('a token that the server rejects and nothing can renew counts as expired, and is not sent again', async () => {
  await save({ ...ending, refresh_token: null, expires_at: null })
  const run = () => runOf(app.db, async () => renewed)
  expect(await run().current()).toBe('access-token-1')
  await expect(run().replace('access-token-1')).rejects.toThrow('has to sign in again')
  await expect(run().current()).rejects.toThrow('has to sign in again')
})
