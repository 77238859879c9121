import type { Page } from 'playwright-core'
import { DESIGN_PATH } from './design-page.ts'
import type { Team } from './team.ts'

export type PagePicture = {
  name: string
  /** The route of `web/src/router.tsx` that the picture shows; null: it is not a page of the product. */
  route: string | null
  path: string
  /** Present once the page has loaded what it shows. */
  sign: string
  /** Also taken as on a phone. */
  phone?: boolean
  /** Also what is below the screen. */
  whole?: boolean
  /** What is done before the picture is taken. */
  act?: (page: Page) => Promise<unknown>
}

/** The routes that show no page of their own: the former address of another one. */
export const redirects = ['/forges']

const tab = (route: string | null, name: string, path: string, sign: string, phone = false): PagePicture => ({
  name,
  route,
  path,
  sign,
  phone,
})

/**
 * The parts of a run's page load one after the other, each of which changes the height of the feed. On a
 * phone a tab shows one of them.
 */
async function toEnd(page: Page): Promise<void> {
  const [feed, minimap, follow_up] = [
    '[role=feed]',
    '[aria-label=Minimap]',
    '[aria-label=Follow-up] textarea',
  ].map(part => page.locator(part))
  if ((page.viewportSize()?.width ?? 0) < 600) return
  for (const part of [feed, minimap, follow_up]) await part?.waitFor()
  await page.keyboard.press('f')
}

async function open(page: Page, key: string, sign: string): Promise<void> {
  await page.keyboard.press(key)
  await page.locator(sign).first().waitFor()
}

/**
 * Returns every page of the web interface with an address in the team. A test fails for a route that is not
 * among them.
 */
export function pagePictures(team: Omit<Team, 'ada'>): PagePicture[] {
  const { runs, pull_requests, sandbox, delivery } = team
  const run = (name: string, id: number, view: string, sign: string, phone = false): PagePicture => ({
    ...tab('/agent/trace/$id', name, `/agent/trace/${id}?view=${view}`, sign, phone),
    act: toEnd,
  })
  const repository = `/repositories/${team.repositories.storefront}`
  const repo = (name: string, sign: string, phone = false) =>
    tab(`/repositories/$repoId/${name}`, `repository-${name}`, `${repository}/${name}`, sign, phone)
  // What another service passes is valid for a short time.
  const callback = (name: string, begin: () => Promise<string>): PagePicture => ({
    ...tab(`/${name}`, name, `/${name}`, 'h1', true),
    act: async page => {
      await page.goto(new URL(`/${name}?${await begin()}`, page.url()).href)
      await page.locator('button:has-text("Connect")').waitFor()
    },
  })
  const settings = (name: string, sign: string, phone = false) =>
    tab(`/settings/${name}`, `settings-${name}`, `/settings/${name}`, sign, phone)
  return [
    tab('/', 'runs', '/', '[data-run-id]', true),
    {
      ...tab('/', 'command-menu', '/', '[data-run-id]'),
      act: page => open(page, 'Control+k', '[role=option]'),
    },
    {
      ...tab('/', 'keyboard-shortcuts', '/', '[data-run-id]'),
      act: page => open(page, '?', 'dialog[open] kbd'),
    },
    tab('/new', 'new-run', '/new', 'button:has-text("Start run")', true),
    run('run', runs.fixed, 'changes', '.diff-code-insert', true),
    run('run-files', runs.fixed, 'files&file=src/invoice.js', '.file-code .keyword', true),
    run('run-answer', runs.currency, 'answer', '[aria-label=Answer]', true),
    run('run-log', runs.failing_check, 'log', '[role=feed] [data-type=FINAL_ANSWER]', true),
    run('run-failed', runs.failed, 'log', '[role=feed] [data-type=ERROR]'),
    run('run-live', runs.running, 'answer', 'text=Measure the checkout page', true),
    run('run-question', runs.question, 'answer', '[role=feed] article'),
    run('run-approval', runs.approval, 'answer', '[data-testid=approval]'),
    run('run-paused', runs.paused, 'answer', '[role=feed] article'),
    run('run-config', runs.currency, 'config', 'button:has-text("Save")'),
    tab('/compare', 'compare', `/compare?a=${runs.fixed}&b=${runs.fork}`, '[data-testid=divergence], table'),
    tab('/pull-requests/', 'pull-requests', '/pull-requests', '[data-pull-request-id]', true),
    tab(
      '/pull-requests/$prId/',
      'pull-request',
      `/pull-requests/${pull_requests.commented}`,
      'text=Yen have no decimals',
      true,
    ),
    tab(
      '/pull-requests/$prId/',
      'pull-request-failing',
      `/pull-requests/${pull_requests.failing}`,
      '[aria-label=Run]',
    ),
    tab(
      '/pull-requests/$prId/changes',
      'pull-request-changes',
      `/pull-requests/${pull_requests.commented}/changes`,
      '.diff-code-insert',
    ),
    tab('/repositories/', 'repositories', '/repositories', 'text=infrastructure', true),
    tab('/repositories/$repoId/', 'repository', repository, 'form[aria-label=General]', true),
    repo('setup', 'form[aria-label="Setup commands"]'),
    repo('environment', 'text=Rebuild'),
    repo('checks', 'form[aria-label="Failing checks"]'),
    repo('secrets', 'text=STRIPE_TEST_KEY'),
    repo('mcp-servers', 'text=postgres'),
    repo('network', 'text=api.stripe.com'),
    repo('webhooks', 'text=This repository is on no connected forge'),
    repo('danger', 'text=Delete this repository'),
    tab('/sandboxes/', 'sandboxes', '/sandboxes', '[data-sandbox-id]'),
    tab(
      '/sandboxes/$sandboxId',
      'sandbox',
      `/sandboxes/${sandbox}`,
      '[aria-label="Entries, oldest first"] > *',
    ),
    tab('/usage', 'usage', '/usage?by=repo', '[aria-label="Usage by repository"]', true),
    tab('/settings/', 'settings', '/settings', 'form[aria-label=Organization]', true),
    settings('members', 'text=Deniz Aydın', true),
    settings('service-users', 'text=CI'),
    settings('tokens', 'text=Deploy pipeline'),
    settings('integrations', 'button:has-text("Create app")'),
    settings('models', 'text=Acme Coder'),
    settings('limits', 'form[aria-label=Budgets]'),
    settings('secrets', 'text=SENTRY_DSN'),
    settings('mcp-servers', 'text=tickets'),
    settings('network', 'text=docs.acme.example'),
    settings('skills', 'text=database-change'),
    tab('/settings/webhooks/', 'settings-webhooks', '/settings/webhooks', '[aria-label=Deliveries] a', true),
    tab(
      '/settings/webhooks/$deliveryId',
      'settings-delivery',
      `/settings/webhooks/${delivery}`,
      'text=Message',
    ),
    settings('audit-log', '[aria-label="Audit log"]'),
    settings('health', '[aria-label=Checks]'),
    settings('profile', 'form[aria-label=Profile]'),
    tab('/docs', 'api-reference', '/docs', 'h1'),
    { ...tab(null, 'design', DESIGN_PATH, 'h1'), whole: true },
    tab('/sign-in', 'sign-in', '/sign-in', 'h1', true),
    tab('/invitation', 'invitation', `/invitation${team.invitation_code}`, 'main button'),
    tab(
      '/oauth/authorize',
      'oauth',
      `/oauth/authorize?${team.sign_in_request}`,
      'button:has-text("Allow")',
      true,
    ),
    callback('mcp-sign-in', team.signInResponse),
    callback('github-app', team.gitHubResponse),
    tab('/$', 'not-found', '/nowhere', 'text=There is no such page'),
  ]
}
