import { test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('the webhooks of a repository name both directions, and lead to where they are set up', async () => {
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/repositories/${app.repo_id}`)
  await page.getByRole('navigation', { name: 'Repository' }).getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('region', { name: 'From the forge' }).getByText('This repository is on no connected forge.').waitFor()
  await page.getByRole('region', { name: 'From the service' }).getByRole('link', { name: 'Add a webhook' }).click()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
})
