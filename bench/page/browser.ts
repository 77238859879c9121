import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'

/** A page of its own context, signed in, and its developer tools. */
export type Tab = AsyncDisposable & { page: Page; tools: CDPSession }

/** Debian's Chromium. It may run as root: what it opens is our own page only. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--enable-precise-memory-info'],
  })

/** The cookies of a session, which the sign-in link of a service's data folder starts. */
export async function signIn(browser: Browser, data_dir: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(readFileSync(join(data_dir, 'sign-in-link'), 'utf8').trim())
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

/** A tab with an empty cache. */
export async function openTab(browser: Browser, session: Awaited<ReturnType<typeof signIn>>): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState: session })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  return { page, tools, [Symbol.asyncDispose]: () => context.close() }
}
