import { expect, test } from 'vitest'
import { createPageCore } from './page-core.ts'

/** A service that accepts one token only, and records what each request carried. */
function service(accepted: string) {
  const requests: { url: string; authorization: string | null }[] = []
  const respond = async (input: string | URL | Request, init?: RequestInit) => {
    const authorization = new Headers(init?.headers).get('authorization')
    requests.push({ url: String(input), authorization })
    if (authorization === `Bearer ${accepted}`) return Response.json({ id: 5 })
    return Response.json({ code: 'unauthorized', message: 'Expired', errors: [] }, { status: 401 })
  }
  return { requests, respond }
}

test('an expired token is discarded, and the call repeated once with the next one', async () => {
  const { requests, respond } = service('second')
  const tokens = ['first', 'second']
  const core = createPageCore(respond, {
    credentials: {
      token: async () => tokens[0],
      discard: token => void (tokens[0] === token && tokens.shift()),
    },
    organization: async () => 3,
  })
  expect(await core.call('getAgentRun', { params: { agent_run_id: 5 } })).toEqual({ id: 5 })
  expect(requests).toEqual([
    { url: '/v1/organizations/3/agent/run/5', authorization: 'Bearer first' },
    { url: '/v1/organizations/3/agent/run/5', authorization: 'Bearer second' },
  ])
})

test('a refusal of the new token is final', async () => {
  const { requests, respond } = service('none of them')
  const core = createPageCore(respond, {
    credentials: { token: async () => 'one', discard: () => {} },
    organization: async () => 3,
  })
  await expect(core.call('getMe')).rejects.toMatchObject({ status: 401 })
  expect(requests).toHaveLength(2)
})

test('operations of the session carry no token', async () => {
  const { requests, respond } = service('')
  await expect(createPageCore(respond).call('createSessionToken')).rejects.toMatchObject({ status: 401 })
  expect(requests).toEqual([{ url: '/session/token', authorization: null }])
})

test('an aborted call rejects with an AbortError, not as unreachable', async () => {
  const abort = new AbortController()
  const core = createPageCore((_url, init) => {
    abort.abort()
    return Promise.reject(init?.signal?.reason)
  })
  await expect(core.call('getReadiness', { signal: abort.signal })).rejects.toMatchObject({
    name: 'AbortError',
  })
})
