import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startCodingApp } from '../runs/coding-app.ts'
import { inBrowser, playbook, untilStatus } from './visit.ts'

const { app, visit } = await inBrowser(startCodingApp(() => ({ text: 'Nothing.' })))

test('a run shows its startup times and the environment that it used, which a button rebuilds', async () => {
  const path = `/v1/organizations/${app.org_id}/repos/${app.repo_id}`
  await app.call('PUT', `${path}/setup-commands`, { commands: ['echo x >created'] })
  const start = () =>
    createRun(app, {
      prompt: playbook('Look', 'run: cat created', 'answer: Done.'),
      model: 'scripted/playbook',
    })
  await awaitEnd(app, (await start()).id)
  const { id } = await start()
  await using someone = await visit({ path: `/agent/trace/${id}?view=config` })
  const { page } = someone
  await untilStatus(page, 'completed')
  const section = page.getByRole('region', { name: 'Start' })
  for (const part of ['Queue', 'Mirror', 'Setup', 'Sandbox', 'Clone', 'First action'])
    expect(await section.getByRole('row', { name: new RegExp(`^${part}`) }).textContent()).toMatch(/\d/)
  const [created] = (await app.call('GET', `${path}/environments`)).body.items
  await section.getByText(`Used environment ${created.id}, created`).waitFor()
  await page.getByText(`created by run ${created.made_by_run}`).waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
  await section.getByRole('button', { name: 'Rebuild' }).click()
  await page.getByRole('region', { name: 'Environments' }).waitFor({ state: 'detached' })
  expect((await app.call('GET', `${path}/environments`)).body.items).toEqual([])
})
