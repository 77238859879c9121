import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { buildDesignPage, DESIGN_PATH } from '../../scripts/screenshots/design-page.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { expectAccessible, inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())
const showDesignPage = await buildDesignPage()

const organization = `/v1/organizations/${app.org_id}`
await app.call('POST', `${organization}/webhooks/agent-run`, {
  url: 'https://hooks.example.com/runs',
  secret: 'a signing secret',
})
const completed = await createRun(app, {
  prompt: playbook(
    'Write a file',
    'run: "printf \'\\\\033[31mred\\\\033[0m\'"',
    'write: { path: "a.txt", content: "a\\n" }',
    'answer: "Done, **really**."',
  ),
  tags: ['docs'],
})
const failed = await createRun(app, { prompt: playbook('Fail', 'run: "false"') })
await Promise.all([completed, failed].map(({ id }) => awaitEnd(app, id)))
const pull_request_id = (await app.call('GET', `${organization}/prs`)).body.items[0].id
const delivery_id = (await app.call('GET', `${organization}/webhooks/agent-run/deliveries`)).body.items[0].id
await app.call('PUT', `${organization}/skills/release`, {
  content: '---\nname: release\ndescription: Publishes a version.\n---\nTag it.\n',
})
const sandbox_id = (await app.call('GET', `${organization}/sandboxes`)).body.items[0].id
const repository = `${organization}/repos/${app.repo_id}`
await app.call('PUT', `${repository}/secrets/NPM_TOKEN`, { value: 'a value of a secret', for_agent: true })
await app.call('PUT', `${repository}/checks`, { checks: [{ name: 'test', command: 'node --test' }] })
await app.call('PUT', `${repository}/egress`, {
  agent: { mode: 'allowlist', allow: [{ host: 'docs.example.com' }] },
})
await app.call('PUT', `${repository}/setup-commands`, {
  commands: ['npm ci'],
  variables: { NODE_ENV: 'test' },
})

/** Each page with what is shown when it has loaded. */
const pages: [string, (page: Page) => ReturnType<Page['locator']>][] = [
  ['/', page => page.locator('[data-run-id]').first()],
  ['/?q=nothing+is+called+so', page => page.getByRole('heading', { name: 'No run matches' })],
  ['/new', page => page.getByRole('button', { name: 'Start run' })],
  [`/agent/trace/${completed.id}?view=answer`, page => page.getByRole('region', { name: 'Answer' })],
  [`/agent/trace/${completed.id}?view=changes`, page => page.getByTestId('diff-summary')],
  [`/agent/trace/${completed.id}?view=files`, page => page.getByRole('treeitem', { name: 'a.txt' })],
  [
    `/agent/trace/${completed.id}?view=files&file=a.txt`,
    page => page.getByRole('region', { name: 'Content' }),
  ],
  [`/agent/trace/${completed.id}?view=config`, page => page.getByRole('button', { name: 'Save' })],
  [`/agent/trace/${failed.id}?view=log`, page => page.getByRole('feed').locator('[data-type=ERROR]').first()],
  [
    `/agent/trace/${completed.id}?view=log&q=e`,
    page => page.getByRole('list', { name: 'Matches' }).locator('mark').first(),
  ],
  [`/compare?a=${completed.id}&b=${failed.id}`, page => page.getByTestId('divergence')],
  ['/?reason=oom&from=2026-01-01', page => page.getByLabel('Created from')],
  ['/pull-requests', page => page.locator('[data-pull-request-id]').first()],
  [`/pull-requests/${pull_request_id}`, page => page.getByRole('region', { name: 'Run' })],
  [`/pull-requests/${pull_request_id}/changes`, page => page.getByTestId('diff-summary')],
  ['/repositories', page => page.getByRole('region', { name: 'Repositories' })],
  [`/repositories/${app.repo_id}`, page => page.getByRole('form', { name: 'General' })],
  [
    `/repositories/${app.repo_id}/environment`,
    page => page.getByRole('heading', { name: 'No environment is stored' }),
  ],
  [`/repositories/${app.repo_id}/setup`, page => page.getByRole('form', { name: 'Setup commands' })],
  [`/repositories/${app.repo_id}/checks`, page => page.getByRole('form', { name: 'Failing checks' })],
  [`/repositories/${app.repo_id}/secrets`, page => page.getByRole('row').filter({ hasText: 'NPM_TOKEN' })],
  [`/repositories/${app.repo_id}/network`, page => page.getByRole('form', { name: 'Allow a host' })],
  [`/repositories/${app.repo_id}/mcp-servers`, page => page.getByRole('switch')],
  [
    `/repositories/${app.repo_id}/webhooks`,
    page => page.getByRole('region', { name: 'From the forge' }).getByRole('link'),
  ],
  [
    `/repositories/${app.repo_id}/danger`,
    page => page.getByRole('heading', { name: 'Delete this repository' }),
  ],
  ['/sandboxes', page => page.locator('[data-sandbox-id]').first()],
  [`/sandboxes/${sandbox_id}`, page => page.getByRole('list', { name: 'Entries, oldest first' })],
  ['/settings/profile', page => page.getByRole('form', { name: 'Profile' })],
  ['/usage', page => page.getByRole('region', { name: 'Usage by day' })],
  ['/settings', page => page.getByRole('form', { name: 'Organization' })],
  ['/settings/members', page => page.getByRole('region', { name: 'Members' })],
  ['/settings/service-users', page => page.getByRole('heading', { name: 'No service users yet' })],
  ['/settings/tokens', page => page.getByRole('region', { name: 'Tokens' })],
  ['/settings/models', page => page.getByRole('region', { name: 'Keys of providers' })],
  ['/settings/limits', page => page.getByRole('form', { name: 'Budgets' })],
  ['/settings/secrets', page => page.getByRole('heading', { name: 'No secrets yet' })],
  ['/settings/network', page => page.getByRole('form', { name: 'Allow a host' })],
  ['/settings/mcp-servers', page => page.getByRole('heading', { name: 'No MCP servers yet' })],
  ['/settings/skills', page => page.getByRole('region', { name: 'Skills' })],
  ['/settings/webhooks', page => page.getByRole('region', { name: 'Deliveries' }).getByRole('link').first()],
  [`/settings/webhooks/${delivery_id}`, page => page.getByRole('heading', { name: 'Message' })],
  ['/settings/audit-log', page => page.getByRole('region', { name: 'Audit log' })],
  ['/settings/health', page => page.getByRole('list', { name: 'Checks' })],
  ['/settings/integrations', page => page.getByRole('button', { name: 'Create app' })],
  ['/nowhere', page => page.getByRole('heading', { name: 'There is no such page' })],
  ['/docs', page => page.getByRole('heading', { level: 1 })],
  [DESIGN_PATH, page => page.getByRole('heading', { level: 1 })],
  ['/sign-in', page => page.getByRole('heading', { name: 'Sign in' })],
  ['/invitation', page => page.getByRole('heading', { name: 'Invitation' })],
]

test.each([
  ['in the light theme', { colorScheme: 'light' }],
  ['in the dark theme', { colorScheme: 'dark' }],
  ['on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const)('every page and overlay meets WCAG 2.2 AA %s', async (_name, options) => {
  // Motion ends at once, so that no colour is measured in between.
  await using someone = await visit(options)
  const { page } = someone
  await showDesignPage(page.context())
  for (const [path, sign] of pages) {
    await someone.open(path)
    await sign(page).waitFor()
    await expectAccessible(someone, path)
  }
  await someone.open('/')
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  if (!('viewport' in options)) {
    await page.getByRole('checkbox').first().check()
    await page.getByRole('region', { name: 'Selected runs' }).waitFor()
    await expectAccessible(someone, 'selected runs')
    await page.getByRole('button', { name: 'Clear the selection' }).click()
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option').first().waitFor()
  await expectAccessible(someone, 'the command menu')
  await page.keyboard.press('Escape')
  // A dialog closes after the key, and until then its field takes what is typed.
  await page.getByRole('listbox', { name: 'Results' }).waitFor({ state: 'hidden' })
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await expectAccessible(someone, 'the keyboard shortcuts')
  await page.keyboard.press('Escape')
  if ('viewport' in options) await page.getByRole('button', { name: 'Open the navigation' }).click()
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menu').waitFor()
  await expectAccessible(someone, 'the account menu')
  await someone.open(`/agent/trace/${completed.id}?view=log`)
  await page.getByRole('feed').locator('article').first().waitFor()
  await page.keyboard.press('l')
  await page.getByRole('navigation', { name: 'Outline' }).locator('[aria-current=step]').waitFor()
  await expectAccessible(someone, 'the outline')
})
