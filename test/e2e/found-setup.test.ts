import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { awaitEnd } from '../runs/await-run.ts'
import { makeRepository, startCodingApp } from '../runs/coding-app.ts'
import { inBrowser } from './visit.ts'

const url = makeRepository({
  Makefile: 'all:\n\techo yes >made\n\ntest:\n\tgrep yes made\n',
  'a.c': 'int a;\n',
})
const { app, visit } = await inBrowser(
  startCodingApp(() => ({ text: 'Nothing.' }), { AGENTRUN_REPO_PATHS: tmpdir() }),
)

test('commands that were detected for a repository with other commands replace them at the press of a button', async () => {
  const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
  const repo_id = (await app.call('POST', at('/repos'), { url, full_name: `t/${basename(url)}` })).body.id
  const commands = async () => (await app.call('GET', at(`/repos/${repo_id}/setup-commands`))).body.commands
  await app.call('PUT', at(`/repos/${repo_id}/setup-commands`), { commands: ['true'] })
  const { agent_run_id } = (await app.call('POST', at('/setup-commands/generate'), { repo_id })).body
  await awaitEnd(app, agent_run_id)
  expect(await commands()).toEqual(['true'])

  await using someone = await visit({ path: `/agent/trace/${agent_run_id}?view=answer` })
  const { page } = someone
  await page.getByRole('list', { name: 'Setup commands' }).getByText('make', { exact: true }).waitFor()
  await page.getByText('Proved by `make test`.').first().waitFor()
  // The trace has the answer as it is, in lines.
  await page.getByText(/^\{\n {2}"commands": \[\n {4}"make"/).waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
  await page.getByRole('button', { name: 'Use these commands' }).click()
  await page.getByRole('button', { name: 'Saved' }).waitFor()
  expect(await commands()).toEqual(['make'])
})
