import { expect, test } from 'vitest'
import { AgentRunError } from '../../../src/client/sdk/error.ts'
import { createPageCore } from './page-core.ts'
import { createSession } from './session.ts'

const start = Date.parse('2026-11-20T10:00:00Z')

/** A service that issues tokens of 15 minutes; `signed_in` false: it responds 401. */
function service() {
  const state = { now: start, signed_in: true, requested: [] as string[], bodies: [] as unknown[] }
  const respond = async (input: string | URL | Request, init?: RequestInit) => {
    state.requested.push(`${init?.method} ${input}`)
    state.bodies.push(init?.body)
    if (!state.signed_in)
      return Response.json(
        { status: 401, code: 'unauthorized', detail: 'Not signed in.', errors: [] },
        { status: 401 },
      )
    const token = `token-${state.requested.length}`
    return Response.json({
      token,
      expires_at: new Date(state.now + 900_000).toISOString(),
      user_id: 1,
      organization_id: 7,
      organizations: [{ id: 7, name: 'x' }],
    })
  }
  return { state, session: createSession(createPageCore(respond), () => state.now) }
}

test('a token is requested once, however many calls need it at the same time', async () => {
  const { state, session } = service()
  const [a, b] = await Promise.all([session.current(), session.current()])
  expect(a).toEqual(b)
  await session.current()
  expect(state.requested).toEqual(['POST /session/token'])
})

test('a token is renewed before it expires, not when it has', async () => {
  const { state, session } = service()
  const first = await session.current()
  state.now += 839_000
  expect((await session.current()).token).toBe(first.token)
  state.now += 2_000
  expect((await session.current()).token).not.toBe(first.token)
})

test('a refused token is forgotten, but not one that replaced it meanwhile', async () => {
  const { session } = service()
  const first = await session.current()
  session.forget('another token')
  expect(await session.current()).toEqual(first)
  session.forget(first.token)
  expect((await session.current()).token).not.toBe(first.token)
})

test('without a cookie the problem is 401, and signing in fixes it', async () => {
  const { state, session } = service()
  state.signed_in = false
  await expect(session.current()).rejects.toMatchObject({ status: 401 })
  state.signed_in = true
  await session.signIn('one-time-code')
  expect(state.bodies.at(-1)).toBe('{"code":"one-time-code"}')
  expect((await session.current()).organization_id).toBe(7)
})

test('a service that cannot be reached is not the same as being signed out', async () => {
  const session = createSession(createPageCore(() => Promise.reject(new TypeError('Failed to fetch'))))
  await expect(session.current()).rejects.toBeInstanceOf(AgentRunError)
  await expect(session.current()).rejects.toMatchObject({ status: 0 })
})
