import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { addPerson } from '../../api/members/people.ts'
import { startApp } from '../../start-app.ts'
import { expectAccessible, inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

/** A program on this computer that waits for its code. */
const received: URL[] = []
const program = createServer((request, response) => {
  received.push(new URL(request.url ?? '', 'http://127.0.0.1'))
  response.setHeader('content-type', 'text/html').end('<title>Done</title>You can close this page.')
}).listen(0, '127.0.0.1')
await once(program, 'listening')
afterAll(() => program.close())
const CALLBACK = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`
const callbacks = () =>
  received
    .filter(({ pathname }) => pathname === '/callback')
    .map(({ searchParams }) => Object.fromEntries(searchParams))

const VERIFIER = 'v'.repeat(64)
const hostile_name = '<b>Claude</b>\u202eedoC'

async function addressFor(more: Record<string, string> = {}): Promise<string> {
  const { body } = await app.call('POST', '/oauth/register', {
    redirect_uris: [CALLBACK],
    client_name: hostile_name,
  })
  const query = {
    response_type: 'code',
    client_id: body.client_id,
    redirect_uri: CALLBACK,
    state: '12345',
    scope: 'runs:read logs:read openid',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
  }
  return `/oauth/authorize?${new URLSearchParams({ ...query, ...more })}`
}

test('a person who is signed out signs in, sees what the program may do and where its code goes, and allows a part', async () => {
  await using someone = await visit({ signed_in: false, accept: /401 \(Unauthorized\)/ })
  const { page } = someone
  const address = await addressFor()
  await someone.open(address)
  await page.getByLabel('Token').fill(app.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: /^Allow .*Claude.* to act for you\?$/ }).waitFor()
  await page.getByText('a program on this computer').waitFor()
  await page.getByText(CALLBACK).waitFor()
  expect(await page.locator('b', { hasText: 'Claude' }).count()).toBe(0)
  await expectAccessible(someone, 'the consent')
  const boxes = page.getByRole('group', { name: 'It may' }).getByRole('checkbox')
  expect(await boxes.count()).toBe(2)
  await page.getByLabel('Read traces').uncheck()
  someone.problems.length = 0
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('You can close this page.').waitFor()
  // The page of the program is another origin, to which the person agreed.
  someone.problems.splice(0)
  const [answer] = callbacks()
  expect(answer).toEqual({ code: expect.any(String), state: '12345', iss: app.base_url })

  const form = {
    grant_type: 'authorization_code',
    code: answer?.code ?? '',
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
  }
  const client_id = new URL(address, app.base_url).searchParams.get('client_id') ?? ''
  const response = await fetch(`${app.base_url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, client_id }),
  })
  expect(await response.json()).toMatchObject({ token_type: 'Bearer', scope: 'runs:read' })
})

test('a person who denies it sends the program away without a code', async () => {
  received.length = 0
  await using someone = await visit()
  await someone.open(await addressFor())
  await someone.page.getByRole('button', { name: 'Deny' }).click()
  await someone.page.getByText('You can close this page.').waitFor()
  someone.problems.splice(0)
  expect(callbacks()).toEqual([{ error: 'access_denied', state: '12345', iss: app.base_url }])
})

test('a wrong request is reported here and leads nowhere; what lacks permission is reported with its reason', async () => {
  received.length = 0
  await using someone = await visit({ accept: /status of 40[03]/ })
  const { page } = someone
  const requests: Record<string, string>[] = [
    { client_id: 'unknown' },
    { redirect_uri: 'https://evil.example/' },
    { redirect_uri: 'javascript:alert(1)' },
  ]
  for (const wrong of requests) {
    await someone.open(await addressFor(wrong))
    await page.getByRole('heading', { name: 'There is no such program' }).waitFor()
  }
  await someone.open(await addressFor({ code_challenge: 'short' }))
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('alert').filter({ hasText: 'code_challenge' }).waitFor()
  const reader = await addPerson(app, 'READER', { kind: 'browser' })
  await page.route('**/session/token', route =>
    route.fulfill({
      json: {
        token: reader.token,
        expires_at: '2100-01-01T00:00:00.000Z',
        user_id: reader.user_id,
        organization_id: app.org_id,
        organizations: [{ id: app.org_id, name: 'My organization' }],
      },
    }),
  )
  await someone.open(await addressFor())
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('alert').filter({ hasText: 'runs:write' }).waitFor()
  expect(callbacks()).toEqual([])
})
