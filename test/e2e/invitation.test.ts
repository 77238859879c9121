import { expect, test } from 'vitest'
import { addOrganization } from '../api/access/second-organization.ts'
import { startApp } from '../start-app.ts'
import { inBrowser } from './visit.ts'

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
  await page.getByText('You are invited to join My organization as MEMBER, known there as ada@example.org').waitFor()
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

test('an invalid link is reported', async () => {
  await using someone = await visit({ signed_in: false, accept: /404 \(Not Found\)/ })
  await someone.page.goto(`${app.base_url}/invitation#code=none`)
  await someone.page.getByRole('alert').filter({ hasText: 'used, revoked or expired' }).waitFor()
})
