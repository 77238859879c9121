import { afterAll, expect, test } from 'vitest'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import { rows, startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const KEY = 'sk-of-the-organization-0123456789'
const provider = await startFakeOpenAI(({ headers }) =>
  headers.authorization === `Bearer ${KEY}`
    ? { text: 'ok' }
    : { status: 401, body: { error: { message: 'wrong key' } } },
)
afterAll(() => provider[Symbol.asyncDispose]())
const { app, visit } = await inBrowser(
  startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' }),
)
const path = (rest: string) => `/v1/organizations/${app.org_id}${rest}`
const list = async (rest: string) => (await app.call('GET', path(rest))).body.items

test('a person is invited with a link that is shown once, the invitation is revoked, and a service user gets a token with scopes', async () => {
  await using someone = await visit({ path: '/settings/members' })
  const { page } = someone
  await page.getByRole('button', { name: 'Invite a person' }).click()
  const invite = page.getByRole('form', { name: 'Invite a person' })
  await invite.getByLabel('E-mail').fill('ada@example.org')
  await invite.getByLabel('Role').selectOption('MANAGER')
  await invite.getByRole('button', { name: 'Create invitation' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite a person' })
  expect(await dialog.getByRole('status', { name: 'invitation link' }).textContent()).toContain(
    '/invitation#code=',
  )
  await dialog.getByRole('button', { name: 'Done' }).click()
  expect(await list('/invitations')).toMatchObject([{ email: 'ada@example.org', role: 'MANAGER' }])
  await page.getByRole('button', { name: 'Revoke the invitation of ada@example.org' }).click()
  await page.getByRole('button', { name: 'Revoke invitation' }).click()
  await page.getByRole('region', { name: 'Invitations' }).waitFor({ state: 'detached' })
  expect(await list('/invitations')).toEqual([])

  await page.getByRole('link', { name: 'Service users' }).click()
  await page.getByRole('button', { name: 'Create service user' }).click()
  const create = page.getByRole('form', { name: 'Create service user' })
  await create.getByLabel('Name').fill('release bot')
  await create.getByRole('button', { name: 'Create service user' }).click()
  await page.getByRole('link', { name: 'Create token for release bot' }).click()
  const token = page.getByRole('form', { name: 'Create token' })
  await token.getByLabel('Name').fill('nightly')
  await token.getByText('Only some scopes').click()
  await token.getByLabel('runs:read').check()
  await token.getByRole('button', { name: 'Create token' }).click()
  const secret = await page.getByRole('status', { name: 'token' }).textContent()
  const [bot] = await list('/service-users')
  const asBot = () => app.call('GET', path('/agent/runs'), undefined, { authorization: `Bearer ${secret}` })
  expect((await asBot()).status).toBe(200)
  expect(await list('/tokens')).toContainEqual(
    expect.objectContaining({ name: 'nightly', user_id: bot.id, scopes: ['runs:read'] }),
  )
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke nightly' }).click()
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
  expect((await asBot()).status).toBe(401)
})

test('a member gets another role and is removed; the last ADMIN sees why the role stays', async () => {
  await app.call('POST', path('/service-users'), { name: 'old bot', role: 'MEMBER' })
  await using someone = await visit({ accept: /status of 409/, path: '/settings/members' })
  const { page } = someone
  const act = async (name: string, item: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await act('old bot', 'Change role')
  const form = page.getByRole('form', { name: 'Role' })
  await form.getByLabel('Role').selectOption('READER')
  await form.getByRole('button', { name: 'Change role' }).click()
  await form.waitFor({ state: 'detached' })
  expect(await list('/members')).toContainEqual(
    expect.objectContaining({ full_name: 'old bot', role: 'READER' }),
  )
  await act('old bot', 'Remove')
  await page.getByRole('button', { name: 'Remove service user' }).click()
  await page.getByRole('button', { name: 'Actions for old bot' }).waitFor({ state: 'detached' })
  const [me] = await list('/members')
  await act(me.full_name ?? me.email ?? `User ${me.user_id}`, 'Change role')
  await form.getByLabel('Role').selectOption('READER')
  await form.getByRole('button', { name: 'Change role' }).click()
  await form.getByText('This is the last ADMIN').waitFor()
})

test('a secret is added, its value is never shown, and it is deleted; budgets are limits at once; health names what is broken', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/settings/secrets' })
  const { page } = someone
  await page.getByRole('button', { name: 'Add secret' }).click()
  const form = page.getByRole('form', { name: 'Secret' })
  await form.getByLabel('Name').fill('npm token')
  await form.getByLabel('Value').fill('npm_0123456789')
  await form.getByRole('button', { name: 'Add secret' }).click()
  await form.getByText('must be 1 to 100 capital letters').waitFor()
  await form.getByLabel('Name').fill('NPM_TOKEN')
  await form.getByRole('button', { name: 'Add secret' }).click()
  await page.getByRole('region', { name: 'Secrets' }).getByText('NPM_TOKEN').waitFor()
  expect(await page.content()).not.toContain('npm_0123456789')
  await page.getByRole('button', { name: 'Delete NPM_TOKEN' }).click()
  await page.getByRole('button', { name: 'Delete secret' }).click()
  await page.getByRole('heading', { name: 'No secrets yet' }).waitFor()
  expect(await list('/secrets')).toEqual([])

  await someone.open('/settings/limits')
  const budgets = page.getByRole('form', { name: 'Budgets' })
  await budgets.getByLabel('Cost per month (USD)').fill('12.5')
  await budgets.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Limits: This organization' }).getByText('$12.50').waitFor()
  await budgets.getByLabel('Cost per month (USD)').fill('')
  await budgets.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('region', { name: 'Limits: This organization' })
    .getByText('$12.50')
    .waitFor({ state: 'detached' })
  expect((await app.call('GET', path(''))).body.budget_usd_per_month).toBeNull()

  await someone.open('/settings/health')
  await page.getByRole('list', { name: 'Checks' }).getByText('database').waitFor()
})

test('the key of a provider is set and removed; a model is added, its test call shows a refused key, and with the right one it responds', async () => {
  await using someone = await visit({ path: '/settings/models' })
  const { page } = someone
  await page.getByRole('heading', { name: 'No model has a key' }).waitFor()
  await page.getByRole('button', { name: 'Set key of Anthropic' }).click()
  const key = page.getByRole('form', { name: 'Key' })
  await key.getByLabel('Key', { exact: true }).fill('sk-ant-0123456789')
  await key.getByRole('button', { name: 'Save key' }).click()
  await page.getByText('Set here').waitFor()
  expect(await page.content()).not.toContain('sk-ant-0123456789')
  await page.getByRole('button', { name: 'Remove key of Anthropic' }).click()
  await page.getByRole('button', { name: 'Remove key', exact: true }).click()
  await page.getByText('Set here').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add model' }).click()
  const model = page.getByRole('form', { name: 'Model' })
  await model.getByLabel('Id').fill('acme/coder')
  await model.getByLabel('API', { exact: true }).selectOption('openai-chat')
  await model.getByLabel('Address', { exact: true }).fill(provider.base_url)
  await model.getByLabel('Key', { exact: true }).fill('sk-wrong-0123456789')
  await model.getByLabel('Prompt', { exact: true }).fill('3')
  await model.getByLabel('Response', { exact: true }).fill('15')
  await model.getByRole('button', { name: 'Add model' }).click()
  await page.getByRole('region', { name: 'Models' }).getByText('$3, $15').waitFor()
  const act = async (item: string) => {
    await page.getByRole('button', { name: 'Actions for acme/coder' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await act('Test call')
  await page.getByRole('button', { name: 'Call the model' }).click()
  await page.getByRole('alert').getByText('wrong key').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await act('Edit')
  await model.getByLabel('Key', { exact: true }).fill(KEY)
  await model.getByRole('button', { name: 'Save' }).click()
  await model.waitFor({ state: 'detached' })
  await act('Test call')
  await page.getByRole('button', { name: 'Call the model' }).click()
  await page.getByText('It responded after').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await act('Make it the default')
  await page.getByRole('region', { name: 'Models' }).getByText('Default', { exact: true }).waitFor()
  const settings = (await app.call('GET', path('/models/settings'))).body
  expect(settings).toMatchObject({ default_model: 'acme/coder' })
  expect(settings.models).toContainEqual(
    expect.objectContaining({
      id: 'acme/coder',
      has_key: true,
      price: expect.objectContaining({ input: '3' }),
    }),
  )
  await act('Remove')
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Actions for acme/coder' }).waitFor({ state: 'detached' })
})

test('a READER sees why controls are disabled, and no page that only an ADMIN may view', async () => {
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await using someone = await visit({ path: '/settings/tokens' })
    const { page } = someone
    const why = page.locator('[aria-description="Your role, READER, may not create or revoke tokens"]')
    await page.getByRole('button', { name: 'Create token' }).and(why).waitFor()
    await someone.open('/settings/integrations')
    await page.getByText('Your role, READER, can view connections but not change them').waitFor()
    expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0)
    for (const hidden of ['secrets', 'health']) {
      await someone.open(`/settings/${hidden}`)
      await page.getByRole('heading', { name: 'You do not have access' }).waitFor()
    }
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
})
