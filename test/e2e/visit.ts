import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, expect, vi } from 'vitest'
import type { App } from '../start-app.ts'

/**
 * The starting service for all tests of a file, and a function that visits it with the browser of this
 * process.
 */
export async function inBrowser<A extends App>(
  starting: Promise<A>,
): Promise<{ app: A; visit(options?: Options): Promise<Visit> }> {
  // A browser, a database and a sandbox at once need their time on a busy machine.
  vi.setConfig({ testTimeout: 90_000 })
  const app = await starting
  afterAll(() => app[Symbol.asyncDispose]())
  return { app, visit: async options => visit(await ownBrowser(), app, options) }
}

/** The files of a process follow each other, and each visit has a context of its own. */
let launched: Promise<Browser> | undefined

/** The browser of this process, which Playwright ends with it; one that has crashed is replaced. */
function ownBrowser(): Promise<Browser> {
  launched ??= launchChromium().then(browser =>
    browser.on('disconnected', () => {
      launched = undefined
    }),
  )
  return launched
}

/** Debian's Chromium. It may run as root: what it opens is our own page only. */
function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}

export type Visit = AsyncDisposable & {
  page: Page
  /**
   * Unwanted events: console errors and warnings, exceptions, refusals of the policy, requests to another
   * origin.
   */
  problems: string[]
  /** Opens a page of the service. */
  open(path: string): Promise<void>
}

type Options = BrowserContextOptions & {
  signed_in?: boolean
  sign_in_link?: string
  path?: string
  accept?: RegExp
  base_url?: string
}

/**
 * Someone in front of a browser of their own, signed in with the code of a link: the admin's, or
 * `sign_in_link`. `path` is the first page; without it the test opens one. At the end nothing unwanted may
 * have happened; `accept` names console messages that the test provokes, `base_url` another way to the
 * service.
 */
async function visit(
  browser: Browser,
  app: App,
  { signed_in = true, sign_in_link, path, accept, base_url = app.base_url, ...options }: Options = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    // Drawing the animation of a running run takes a tenth of a processor.
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', error => problems.push(`exception: ${error.stack ?? error.message}`))
  page.on('dialog', dialog => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', request => {
    const url = new URL(request.url())
    if (url.origin !== base_url && url.protocol !== 'blob:' && url.protocol !== 'data:')
      problems.push(`foreign request: ${url.href}`)
  })
  if (signed_in) {
    const link = sign_in_link ?? (await app.signInLink())
    // As the page of the link does it, which is one page less to load.
    const response = await context.request.post(`${base_url}/session`, {
      data: { code: link.split('#code=')[1] },
    })
    expect(response.status()).toBe(200)
    if (path !== undefined) await page.goto(base_url + path)
    if (path === '/') await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  }
  return {
    page,
    problems,
    open: async path => {
      await page.goto(base_url + path)
    },
    async [Symbol.asyncDispose]() {
      await context.close()
      expect(problems.filter(problem => !accept?.test(problem))).toEqual([])
    },
  }
}

/** The status pill of the trace page. */
export const statusOf = (page: Page) =>
  page.getByRole('banner').getByTestId('status').or(page.locator('header').getByTestId('status'))

/** Waits until the trace page shows this status. */
export const untilStatus = (page: Page, status: string) =>
  statusOf(page).filter({ hasText: status }).waitFor()

/** A prompt that the scripted model plays. */
export const playbook = (title: string, ...steps: string[]) =>
  `${title}\n\n\`\`\`playbook\n${steps.map(step => `- ${step}`).join('\n')}\n\`\`\`\n`

const { source }: { source: string } = createRequire(import.meta.url)('axe-core')

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const violations = `axe.run(document, { runOnly: ${JSON.stringify(standards)} }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`

/** How much taller than the window a page with the frame is; its parts scroll instead. */
const beyond = `document.querySelector('[aria-label=Breadcrumbs]') ? document.documentElement.scrollHeight - innerHeight : 0`

/**
 * Fails for what axe finds on the page as it is, or when the window scrolls beside its parts; `what` names
 * it.
 */
export async function expectAccessible({ page }: Pick<Visit, 'page'>, what: string): Promise<void> {
  await page.evaluate(source)
  expect(await page.evaluate(violations), what).toEqual([])
  expect(await page.evaluate(beyond), `${what}: height beyond the window`).toBe(0)
}
