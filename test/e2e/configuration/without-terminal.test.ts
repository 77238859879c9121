import { expect, test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('what a new service lacks leads to the pages that add it: from the form for a run, from health, and from secrets', async () => {
  await using someone = await visit({ path: '/new' })
  const { page } = someone
  await page.getByText('how to configure a model').click()
  await page.getByRole('main').getByRole('link', { name: 'Models and keys' }).click()
  await page.getByRole('heading', { level: 1, name: 'Models and keys' }).waitFor()
  await page
    .getByRole('row', { name: /^Anthropic/ })
    .getByRole('button', { name: 'Set key' })
    .click()
  const dialog = page.getByRole('dialog', { name: 'Key of Anthropic' })
  await dialog
    .getByRole('form', { name: 'Key' })
    .getByLabel('Key', { exact: true })
    .fill('sk-ant-of-this-test')
  await dialog.getByRole('button', { name: 'Save key' }).click()
  await dialog.waitFor({ state: 'detached' })

  await someone.open('/settings/health')
  const checks = page.getByRole('list', { name: 'Checks' })
  await checks.getByRole('link', { name: 'Repositories' }).click()
  await page.getByRole('heading', { level: 1, name: 'Repositories' }).waitFor()

  await someone.open('/settings/secrets')
  const key = page.getByRole('row', { name: /AGENTRUN_MODEL_KEY_ANTHROPIC/ })
  await key.getByText('Key of a model').waitFor()
  expect(await key.getByRole('button').count()).toBe(0)
  await key.getByRole('link', { name: 'Models and keys' }).click()
  await page.getByRole('heading', { level: 1, name: 'Models and keys' }).waitFor()
})

test('the webhooks of a repository name both directions, and lead to where they are set up', async () => {
  await using someone = await visit({ path: `/repositories/${app.repo_id}` })
  const { page } = someone
  await page.getByRole('navigation', { name: 'Repository' }).getByRole('link', { name: 'Webhooks' }).click()
  await page
    .getByRole('region', { name: 'From the forge' })
    .getByText('This repository is on no connected forge.')
    .waitFor()
  await page
    .getByRole('region', { name: 'From the service' })
    .getByRole('link', { name: 'Add a webhook' })
    .click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
})

test('the page of something that does not exist leads to its list', async () => {
  await using someone = await visit({ accept: /status of 404/ })
  const { page } = someone
  for (const [path, list] of [
    ['/repositories/999', 'Repositories'],
    ['/pull-requests/999', 'Pull requests'],
    ['/sandboxes/999', 'Sandboxes'],
  ] as const) {
    await someone.open(path)
    await page.getByRole('link', { name: `All ${list.toLowerCase()}` }).click()
    await page.getByRole('heading', { level: 1, name: list, exact: true }).waitFor()
  }
})
