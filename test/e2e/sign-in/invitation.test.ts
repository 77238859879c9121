import { expect, test } from 'vitest'
import { addOrganization } from '../../api/access/second-organization.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

async function invite(token: string, org_id: number, email: string): Promise<string> {
  const { status, body } = await app.call(
    'POST',
    `/v1/organizations/${org_id}/members`,
    { email, role: 'MEMBER' },
    { authorization: `Bearer ${token}` },
  )
  expect(status).toBe(200)
  return body.invitation_link
}

test('a person without an account sees the invitation and joins with a new account; the code is removed from the address', async () => {
  await using someone = await visit({ signed_in: false })
  const { page } = someone
  await page.goto(await invite(app.token, app.org_id, 'ada@example.org'))
  await page
    .getByText('You are invited to join My organization as MEMBER, known there as ada@example.org')
    .waitFor()
  await page.getByRole('button', { name: 'Create an account and join' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect(page.url()).toBe(`${app.base_url}/`)
})

test('who is signed in joins with that account, and chooses between the organizations', async () => {
  const second = await addOrganization(app, 'Second')
  await using someone = await visit()
  const { page } = someone
  await page.goto(await invite(second.token, second.org_id, 'me@example.org'))
  await page.getByRole('button', { name: 'Join as Administrator' }).click()
  await page.getByRole('button', { name: 'Organization: Second' }).click()
  await page.getByRole('menuitemradio', { name: 'My organization' }).click()
  await page.getByRole('button', { name: 'Organization: My organization' }).waitFor()
  expect(page.url()).toBe(`${app.base_url}/`)
})

test('a person who signs in first returns to the invitation, and its code is in no request but those of the invitation', async () => {
  const third = await addOrganization(app, 'Third')
  await using someone = await visit({ signed_in: false, accept: /401 \(Unauthorized\)/ })
  const { page } = someone
  const link = await invite(third.token, third.org_id, 'me@example.org')
  const code = new URL(link).hash.replace('#code=', '')
  const paths: string[] = []
  page.on('request', request => {
    if (`${request.url()} ${request.postData()}`.includes(code)) paths.push(new URL(request.url()).pathname)
  })
  await page.goto(link)
  await page.getByRole('link', { name: 'Sign in and join with it' }).click()
  await page.reload()
  await page.getByLabel('Token').fill(app.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Join as Administrator' }).click()
  await page.getByRole('button', { name: 'Organization: Third' }).waitFor()
  expect([...new Set(paths)]).toEqual(['/session/invitation', '/session/invitation/accept'])
  await page.goto(`${app.base_url}/invitation`)
  await page.getByText('This address has no invitation code').waitFor()
})

test('an invalid link is reported', async () => {
  await using someone = await visit({ signed_in: false, accept: /404 \(Not Found\)/ })
  await someone.page.goto(`${app.base_url}/invitation#code=none`)
  await someone.page.getByRole('alert').filter({ hasText: 'used, revoked or expired' }).waitFor()
})
