import { tmpdir } from 'node:os'
import { afterAll, expect, test } from 'vitest'
import { addPerson } from '../../api/members/people.ts'
import { startFakeGitHub } from '../../forge/fake-github.ts'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { makeRepository } from '../../runs/coding-app.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook, type Visit } from '../visit.ts'

const github = await startFakeGitHub()
afterAll(() => github[Symbol.asyncDispose]())
const { app, visit } = await inBrowser(
  startApp({ AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_REPO_PATHS: tmpdir() }),
)
const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const get = async (path: string) => (await app.call('GET', at(path))).body

/** A new repository with a Makefile, and its id. */
async function addRepository(): Promise<number> {
  const files = {
    Makefile: 'all:\n\techo yes >made\n\ntest:\n\tgrep yes made\n',
    'a.c': 'int a;\n',
    'AGENTS.md': 'Be brief.\n',
  }
  return (await app.call('POST', at('/repos'), { url: makeRepository(files) })).body.id
}

async function openTab({ page }: Visit, name: string) {
  await page.getByRole('navigation', { name: 'Repository', exact: true }).getByRole('link', { name }).click()
  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText(name, { exact: true }).waitFor()
}

test('a repository is added by its path or from a connected forge, a refused address shows the reason, and one is deleted', async () => {
  await app.call('PUT', at('/integrations/github'), { url: github.url, token: github.token })
  const path = makeRepository()
  await using someone = await visit({ accept: /status of 400/, path: '/repositories' })
  const { page } = someone
  await page.getByRole('button', { name: 'Add repository' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add repository' })
  await dialog.getByLabel('Address or path').fill('ftp://example.org/a.git')
  await dialog.getByRole('button', { name: 'Add repository' }).click()
  await dialog.getByLabel('Address or path').and(page.locator('[aria-invalid=true]')).fill(path)
  await dialog.getByRole('button', { name: 'Add repository' }).click()
  await page.getByRole('form', { name: 'General' }).waitFor()

  await someone.open('/repositories')
  await page.getByRole('button', { name: 'Add repository' }).click()
  await dialog.getByLabel('From').selectOption({ label: `GitHub: ${github.url}` })
  await dialog.getByRole('searchbox', { name: 'Filter repositories' }).fill('no such name')
  await dialog.getByText('No repository matches.').waitFor()
  await dialog.getByRole('searchbox', { name: 'Filter repositories' }).fill('app')
  await dialog.getByRole('button', { name: 'Add acme/app' }).click()
  await page.getByRole('heading', { level: 1, name: 'acme/app' }).waitFor()
  const { items } = await get('/repos')
  expect(items.map(({ url }: { url: string }) => url)).toEqual(
    expect.arrayContaining([path, `${github.url}/acme/app.git`]),
  )

  await openTab(someone, 'Danger zone')
  await page.getByRole('button', { name: 'Delete repository' }).click()
  const question = page.getByRole('dialog', { name: 'Delete repository' })
  const confirm = question.getByRole('button', { name: 'Delete repository' })
  expect(await confirm.getAttribute('aria-description')).toBe('Type acme/app first')
  await question.getByRole('textbox').fill('acme/app')
  await confirm.click()
  await page.getByRole('heading', { level: 1, name: 'Repositories' }).waitFor()
  await page.getByRole('region', { name: 'Repositories' }).waitFor()
  expect(await page.getByRole('link', { name: 'acme/app' }).count()).toBe(0)
  expect((await get('/repos')).items.map(({ full_name }: { full_name: string }) => full_name)).not.toContain(
    'acme/app',
  )
})

test('setup commands are saved, tried with their output, and replaced by detected ones', async () => {
  const repo_id = await addRepository()
  await using someone = await visit({ path: `/repositories/${repo_id}` })
  const { page } = someone
  await openTab(someone, 'Setup')
  const form = page.getByRole('form', { name: 'Setup commands' })
  const attempt = page.getByRole('button', { name: 'Try commands' })
  expect(await attempt.getAttribute('aria-description')).toBe('There are no commands yet')
  await form.getByRole('button', { name: 'Add command' }).click()
  await form
    .getByRole('textbox', { name: 'Command 1', exact: true })
    .fill('echo the $WORD of the setup\nfalse')
  await form.getByRole('button', { name: 'Add variable' }).click()
  await form.getByLabel('Name of variable 1').fill('WORD')
  await form.getByLabel('Value of variable 1').fill('output')
  expect(await attempt.getAttribute('aria-description')).toBe('Save the changes first')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const path = `/repos/${repo_id}/setup-commands`
  expect(await get(path)).toMatchObject({
    commands: ['echo the $WORD of the setup\nfalse'],
    variables: { WORD: 'output' },
  })

  await attempt.click()
  const output = page.getByRole('region', { name: 'Output' })
  await output.locator('pre').getByText('the output of the setup').waitFor()
  await output.getByText(/^Setup command 1 of 1 failed with exit code 1/).waitFor()
  await page.reload()
  await output.locator('pre').getByText('the output of the setup').waitFor()

  await page.getByRole('button', { name: 'Detect commands' }).click()
  await output.getByText('Verified in a clean sandbox').waitFor()
  await output.getByRole('button', { name: 'Use these commands' }).click()
  await form.getByText('make', { exact: true }).waitFor()
  expect((await get(path)).commands).toEqual(['make'])
  await attempt.click()
  await output.getByText('The sandbox was prepared without an error.').waitFor()
  await attempt.click()
  await output
    .getByText(
      /^The sandbox was prepared from the environment of run #\d+, without executing the commands\.$/,
    )
    .waitFor()
  await output.getByRole('button', { name: 'Execute the commands' }).click()
  await output.getByText('The sandbox was prepared without an error.').waitFor()
  await openTab(someone, 'Environment')
  await page.getByRole('button', { name: 'Rebuild all' }).click()
  await page.getByRole('heading', { name: 'No environment is stored' }).waitFor()
  expect((await get(`/repos/${repo_id}/environments`)).items).toEqual([])
})

test('the rules for agents are shown as the latest run got them', async () => {
  const repo_id = await addRepository()
  await app.call('PATCH', at(''), { rules: 'Every change has a test.' })
  await using someone = await visit({ path: `/repositories/${repo_id}` })
  const { page } = someone
  await page.getByText('None of the latest runs found rules files.').waitFor()
  const { id } = await createRun(app, {
    prompt: playbook('Nothing', 'answer: Done.'),
    repo_id,
    model: 'scripted/playbook',
  })
  await awaitEnd(app, id)
  await page.reload()
  await page.getByRole('region', { name: 'From the repository' }).getByText('Be brief.').waitFor()
  await page.getByRole('link', { name: `run #${id}` }).waitFor()
  await page
    .getByRole('region', { name: 'Rules of the organization' })
    .getByText('Every change has a test.')
    .waitFor()
})

test('checks are added and removed, and what happens when one fails is configured', async () => {
  const repo_id = await addRepository()
  await using someone = await visit({ accept: /status of 400/, path: `/repositories/${repo_id}/checks` })
  const { page } = someone
  const commands = page.getByRole('form', { name: 'Commands' })
  await commands.getByRole('button', { name: 'Add check' }).click()
  await commands.getByLabel('Name').fill('test')
  await commands.getByRole('button', { name: 'Save' }).click()
  await commands
    .getByRole('alert')
    .getByText(/^command: /)
    .waitFor()
  await commands.getByLabel('Command').fill('make test')
  await commands.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const path = `/repos/${repo_id}/checks`
  expect((await get(path)).checks).toEqual([{ name: 'test', command: 'make test', timeout_seconds: 600 }])

  const suite = page.getByRole('form', { name: 'Failing checks' })
  await suite.getByLabel('Attempts', { exact: true }).fill('2')
  await suite.getByLabel('Another check').fill('coverage')
  await suite.getByRole('button', { name: 'Add' }).click()
  await suite.getByText('coverage', { exact: true }).click()
  await suite.getByText('Ignore this check').locator('visible=true').click()
  await suite.getByText('test', { exact: true }).click()
  await suite.getByLabel('Instructions for test').fill('Run it alone.')
  await suite.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(() => get(`/repos/check-suite-settings?repo_id=${repo_id}`))
    .toMatchObject({
      check_retry_count: 2,
      ignored_checks: ['coverage'],
      custom_prompts: { test: 'Run it alone.' },
    })

  await commands.getByRole('button', { name: 'Remove check test' }).click()
  await commands.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await get(path)).checks).toEqual([])
})

test('a secret is added, replaced and deleted, and its value is never shown', async () => {
  const repo_id = await addRepository()
  await using someone = await visit({ accept: /status of 400/, path: `/repositories/${repo_id}/secrets` })
  const { page } = someone
  await page.getByRole('heading', { name: 'No secrets yet' }).waitFor()
  const form = page.getByRole('form', { name: 'Secret' })
  await form.getByLabel('Name').fill('npm token')
  await form.getByLabel('Value').fill('the first value')
  await form.getByRole('button', { name: 'Add secret' }).click()
  await form.getByText(/Must be 1 to 100 capital letters/).waitFor()
  await form.getByLabel('Name').fill('NPM_TOKEN')
  await form.getByText('Agents and checks receive it too').click()
  await form.getByRole('button', { name: 'Add secret' }).click()
  const row = page.getByRole('row').filter({ hasText: 'NPM_TOKEN' })
  await row.getByText('Setup, agents and checks').waitFor()
  const secrets = async () => (await get(`/repos/${repo_id}/secrets`)).items
  const [added] = await secrets()
  expect(added).toMatchObject({ name: 'NPM_TOKEN', for_agent: true })

  await row.getByRole('button', { name: 'Replace NPM_TOKEN' }).click()
  expect(await form.getByLabel('Value').inputValue()).toBe('')
  await form.getByLabel('Value').fill('the second value')
  await form.getByRole('button', { name: 'Replace value' }).click()
  await form.getByRole('button', { name: 'Add secret' }).waitFor()
  const [replaced] = await secrets()
  expect(replaced).toMatchObject({ name: 'NPM_TOKEN', for_agent: true })
  expect(replaced.updated_at).not.toBe(added.updated_at)
  expect(await page.content()).not.toMatch(/the (first|second) value/)

  await row.getByRole('button', { name: 'Delete NPM_TOKEN' }).click()
  await page
    .getByRole('dialog', { name: 'Delete secret' })
    .getByRole('button', { name: 'Delete secret' })
    .click()
  await page.getByRole('heading', { name: 'No secrets yet' }).waitFor()
  expect(await secrets()).toEqual([])
})

test('network access, registries and hosts are changed, and the hosts of the organization are shown', async () => {
  const repo_id = await addRepository()
  await app.call('PUT', at('/egress'), {
    agent: { mode: 'allowlist', allow: [{ host: 'docs.example.com' }], presets: ['npm'] },
  })
  await using someone = await visit({ accept: /status of 400/, path: `/repositories/${repo_id}/network` })
  const { page } = someone
  const access = page.getByRole('form', { name: 'Network access' })
  expect(await access.getByLabel('npm').isDisabled()).toBe(true)
  await access.getByLabel('Setup commands').selectOption('allowlist')
  await access.getByLabel('pypi').check()
  await access.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const form = page.getByRole('form', { name: 'Allow a host' })
  await form.getByLabel('Host').fill('*.github.io')
  await form.getByRole('button', { name: 'Allow host' }).click()
  await form.getByText(/Must not be all names below/).waitFor()
  await form.getByLabel('Host').fill('mirror.example.com')
  await form.getByLabel('Port').fill('8443')
  await form.getByRole('button', { name: 'Allow host' }).click()
  const hosts = page.getByRole('region', { name: 'Hosts', exact: true })
  await hosts.getByRole('row').filter({ hasText: 'mirror.example.com' }).getByText('8443').waitFor()
  await hosts.getByRole('row').filter({ hasText: 'docs.example.com' }).getByText('Organization').waitFor()
  const egress = () => get(`/repos/${repo_id}/egress`)
  const rule = { host: 'mirror.example.com', port: 8443, methods: null }
  expect(await egress()).toMatchObject({
    agent: { mode: null, presets: ['pypi'], allow: [rule] },
    setup: { mode: 'allowlist' },
  })
  await hosts.getByRole('button', { name: 'Remove mirror.example.com' }).click()
  await hosts.getByText('mirror.example.com').waitFor({ state: 'detached' })
  expect((await egress()).agent).toEqual({ mode: null, presets: ['pypi'], allow: [] })
})

test('a member sees the settings without forms that they cannot use, and why they cannot change them', async () => {
  const repo_id = await addRepository()
  await app.call('PUT', at(`/repos/${repo_id}/setup-commands`), { commands: ['make'] })
  const member = await addPerson(app, 'READER')
  const { sign_in_link } = (await app.call('POST', at(`/members/${member.user_id}/sign-in-link`))).body
  await using someone = await visit({ sign_in_link })
  const { page } = someone
  const why = 'Your role, READER, may not change repositories'
  for (const tab of ['setup', 'checks', 'network']) {
    await someone.open(`/repositories/${repo_id}/${tab}`)
    await page.getByText(`${why}.`).first().waitFor()
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /^(Save|Add|Allow|Try|Detect)/ })
        .count(),
    ).toBe(0)
    expect(await page.getByRole('heading', { name: 'Dry run' }).count()).toBe(0)
  }
  await someone.open(`/repositories/${repo_id}/secrets`)
  await page.getByRole('heading', { name: 'You do not have access' }).waitFor()
  await someone.open(`/repositories/${repo_id}/danger`)
  const button = page.getByRole('button', { name: 'Delete repository' })
  await button.click({ force: true })
  expect(await button.getAttribute('aria-description')).toBe(why)
  expect(await page.getByRole('dialog').count()).toBe(0)
})
