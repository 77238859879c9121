import { expect, test } from 'vitest'
import { createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { inBrowser } from './visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('who reviews can be chosen for the organization, a repository and a run', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const choose = async (label: string) => {
    await page.getByLabel('Review', { exact: true }).selectOption({ label })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved', { exact: true }).first().waitFor()
  }
  const path = `/v1/organizations/${app.org_id}`
  const reviewAt = async (rest: string) => (await app.call('GET', `${path}${rest}`)).body.review
  await someone.open('/settings')
  await choose('By rules alone')
  expect(await reviewAt('')).toBe('rules')
  await someone.open(`/repositories/${app.repo_id}`)
  await choose('By rules and a model')
  expect(await reviewAt(`/repos/${app.repo_id}`)).toBe('model')
  const { id, review } = await createRun(app, { prompt: 'x' })
  expect(review).toBe('model')
  await someone.open(`/agent/trace/${id}`)
  await page.getByRole('tab', { name: 'Config' }).click()
  await choose('Default')
  expect(await reviewAt(`/agent/run/${id}`)).toBeNull()
})
