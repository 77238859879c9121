import { afterAll, expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import { inBrowser } from '../visit.ts'

const receiver = await startReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const { app, visit } = await inBrowser(
  startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' }),
)
const get = async (rest: string) => (await app.call('GET', `/v1/organizations/${app.org_id}${rest}`)).body

test('a webhook is tested and added, a refused message is seen and sent again, and the webhook is deleted', async () => {
  await using someone = await visit({ path: '/settings/webhooks' })
  const { page } = someone
  const form = page.getByRole('form', { name: 'Webhook' })
  await form.getByLabel('Address').fill(receiver.url)
  await page.getByRole('button', { name: 'Send test message' }).click()
  await page.getByText('Accepted with status 204').waitFor()
  await form.getByRole('button', { name: 'Generate a secret' }).click()
  const secret = await form.getByLabel('Secret', { exact: true }).inputValue()
  await form.getByText('Only some events').click()
  await form.getByLabel('agent_run.created').check()
  await form.getByRole('button', { name: 'Add webhook' }).click()
  await form.getByRole('button', { name: 'Delete webhook' }).waitFor()
  const saved = { url: receiver.url, enabled: true, has_secret: true, events: ['agent_run.created'] }
  expect(await get('/webhooks/agent-run')).toMatchObject(saved)
  expect(await page.content()).not.toContain(secret)

  receiver.responses = [(_request, response) => response.writeHead(410).end('gone <b>away</b>')]
  await createRun(app, { prompt: 'Report me' })
  await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor()
  await someone.open('/settings/webhooks?state=failed')
  await page.getByText('The service disabled the webhook').waitFor()
  receiver.responses = [503, 204]
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The service disabled the webhook').waitFor({ state: 'detached' })
  expect(await get('/webhooks/agent-run')).toMatchObject(saved)
  await page.getByRole('link', { name: /^agent_run\.created, delivery/ }).click()
  await page.getByRole('heading', { name: /^Delivery \d+$/ }).waitFor()
  await page
    .getByRole('navigation', { name: 'Settings' })
    .locator('[aria-current=page]', { hasText: 'Webhooks' })
    .waitFor()
  await page.getByRole('list', { name: 'Attempts' }).getByText('gone <b>away</b>').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('list', { name: 'Attempts' }).getByText('503', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.getByRole('list', { name: 'Attempts' }).getByText('204', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send again' }).waitFor()
  expect(new Set(receiver.received.slice(1).map(({ headers }) => headers['webhook-id'])).size).toBe(1)

  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('button', { name: 'Retry failed ones…' }).click()
  const retry = page.getByRole('form', { name: 'Retry failed deliveries' })
  await retry.getByRole('button', { name: 'Retry' }).click()
  await retry.getByText('0 deliveries are sent again.').waitFor()
  await page.keyboard.press('Escape')
  await form.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await form.getByRole('button', { name: 'Add webhook' }).waitFor()
  expect((await get('/webhooks/agent-run')).url).toBeNull()

  await someone.open('/settings/audit-log')
  await page.getByLabel('Action', { exact: true }).selectOption('webhook.set')
  await page
    .getByRole('button', { name: /^Details of webhook\.set/ })
    .nth(1)
    .waitFor()
  await page.getByRole('button', { name: /^Details of webhook\.deleted/ }).waitFor({ state: 'detached' })
  await page
    .getByRole('button', { name: /^Details of webhook\.set/ })
    .first()
    .click()
  await page.getByRole('dialog', { name: 'webhook.set' }).getByText(new URL(receiver.url).host).waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Last day').fill('2020-01-01')
  await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
  await page.getByRole('link', { name: 'Remove all filters' }).click()
  await page.getByRole('button', { name: /^Details of webhook\.deleted/ }).waitFor()
})

test('the network of all runs is changed, and a repository shows what it has from the organization', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/settings/network' })
  const { page } = someone
  const access = page.getByRole('form', { name: 'Network access' })
  await access.getByLabel('Commands of agents').selectOption('Allowed hosts only')
  await access.getByLabel('npm').check()
  await access.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const hosts = page.getByRole('form', { name: 'Allow a host' })
  await hosts.getByLabel('Host').fill('*.com')
  await hosts.getByRole('button', { name: 'Allow host' }).click()
  await hosts.getByText('must be a host name').waitFor()
  await hosts.getByLabel('Host').fill('docs.example.com')
  await hosts.getByLabel('Port').fill('8443')
  await hosts.getByRole('button', { name: 'Allow host' }).click()
  await page.getByRole('region', { name: 'Hosts' }).getByText('docs.example.com').waitFor()
  const rule = { host: 'docs.example.com', port: 8443, methods: null }
  expect(await get('/egress')).toEqual({
    agent: { mode: 'allowlist', allow: [rule], presets: ['npm'] },
    setup: { mode: null },
  })
  await someone.open(`/repositories/${app.repo_id}/network`)
  await page.getByRole('row').filter({ hasText: 'docs.example.com' }).getByText('Organization').waitFor()
  await page.getByText('As the organization: Allowed hosts only').waitFor({ state: 'attached' })
  await someone.open('/settings/network')
  await page.getByRole('button', { name: 'Remove docs.example.com' }).click()
  await page.getByText('No host is allowed').waitFor()
  expect((await get('/egress')).agent).toEqual({ mode: 'allowlist', allow: [], presets: ['npm'] })
})

test('a skill is added from a SKILL.md, a mistake is shown at the field, and it is changed and deleted', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/settings/skills' })
  const { page } = someone
  await page.getByRole('button', { name: 'Add skill' }).click()
  const form = page.getByRole('form', { name: 'Skill' })
  const save = form.getByRole('button', { name: 'Save skill' })
  expect(await save.getAttribute('aria-description')).toBe('Enter a name in the front matter first')
  await form.getByLabel('SKILL.md').fill('---\nname: release\n---\nTag it.\n')
  await save.click()
  await form.getByText('has no description in its front matter').waitFor()
  const content = '---\nname: release\ndescription: Publishes a version.\n---\nTag it.\n'
  await form.getByLabel('SKILL.md').fill(content)
  await save.click()
  await page.getByRole('region', { name: 'Skills' }).getByText('Publishes a version.').waitFor()
  expect((await get('/skills/release')).content).toBe(content)
  await page.getByRole('button', { name: 'Edit release' }).click()
  await form.getByLabel('SKILL.md').fill(content.replace('Tag it', 'Tag and sign it'))
  await save.click()
  await form.waitFor({ state: 'detached' })
  expect((await get('/skills/release')).content).toContain('Tag and sign it')
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await someone.open('/settings/skills')
    const why = page.locator('[aria-description="Your role, READER, can view skills but not change them"]')
    await page.getByRole('button', { name: 'Add skill' }).and(why).waitFor()
    await page.getByRole('button', { name: 'View release' }).click()
    expect(await form.getByLabel('SKILL.md').inputValue()).toContain('Tag and sign it')
    for (const hidden of ['webhooks', 'webhooks/1', 'audit-log']) {
      await someone.open(`/settings/${hidden}`)
      await page.getByRole('heading', { name: 'You do not have access' }).waitFor()
    }
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
  await someone.open('/settings/skills')
  await page.getByRole('button', { name: 'Delete release' }).click()
  await page.getByRole('button', { name: 'Delete skill' }).click()
  await page.getByRole('heading', { name: 'No skills yet' }).waitFor()
  expect((await get('/skills')).items).toEqual([])
})
