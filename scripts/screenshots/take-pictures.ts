import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { buildDesignPage, DESIGN_PATH } from './design-page.ts'
import { addFonts, rewriteResponses } from './in-page.ts'
import { type PagePicture, pagePictures } from './pages.ts'
import { differingShare, reducePicture } from './reduce-picture.ts'
import { replacedTexts } from './replaced-texts.ts'
import { createRepositories } from './repositories.ts'
import { type PictureService, SHOWN_ADDRESS, startService } from './service.ts'
import { NOW, type Replacements, steadyJson } from './steady-responses.ts'
import { createTeam } from './team.ts'

export type Picture = {
  name: string
  theme: 'light' | 'dark'
  device: 'laptop' | 'phone'
  page: Page
  png: Buffer
}

/** `workshop` is an empty page, in which pictures can be read and written. */
type Take = (picture: Picture, workshop: Page) => Promise<void>

/** The name of a picture among all. */
export const nameOf = ({ device, theme, name }: Picture) => `${device}-${theme}-${name}`

const themes = ['light', 'dark'] as const
const LAPTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
/** A page that still changes after this number of captures is reported. */
const MAX_CAPTURES = 40
/** React shows a part whose code has arrived up to 300 ms later. */
const CAPTURE_PAUSE_MS = 350
/** The edge of a rounded corner is not drawn in exactly the same way each time. */
const CORNER_STEP = 24
/**
 * What changes a page once it arrives; responses of the API are counted in the page, where they are
 * rewritten.
 */
const parts_of_pages = ['script', 'stylesheet', 'font', 'image']

const { resolve } = createRequire(import.meta.url)
const font = (family: string, file: string) => ({
  family,
  base64: readFileSync(resolve(`@fontsource-variable/${file}`), 'base64'),
})

/**
 * Text is drawn in the same way on every machine: without hinting and without the colours of a screen's
 * subpixels.
 */
const drawing = [
  '--font-render-hinting=none',
  '--disable-lcd-text',
  '--disable-font-subpixel-positioning',
  '--force-color-profile=srgb',
]

/** Chromium, for which the shown address is that of the service. */
function launch({ port }: PictureService): Promise<Browser> {
  const address = new URL(SHOWN_ADDRESS)
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      ...['--no-sandbox', '--disable-dev-shm-usage', ...drawing],
      `--host-resolver-rules=MAP ${address.hostname}:80 127.0.0.1:${port}`,
      `--unsafely-treat-insecure-origin-as-secure=${address.origin}`,
    ],
  })
}

/**
 * Starts a service with a team and calls `take` for each picture of its pages, in the two themes, while the
 * page shows it. Without `wanted` it takes all pages.
 */
export async function takePictures(
  take: Take,
  wanted: (name: string) => boolean = () => true,
): Promise<void> {
  await using service = await startService(createRepositories)
  const team = await createTeam(service)
  const replacements = {
    runs: Math.max(...Object.values(team.runs)),
    texts: await replacedTexts(service, team),
  }
  await using browser = await launch(service)
  const pages = pagePictures(team).filter(({ name }) => wanted(name))
  const context = await openContext(browser, replacements)
  if (pages.some(({ path }) => path === DESIGN_PATH)) {
    const show = await buildDesignPage()
    await show(context)
  }
  const workshop = await (await browser.newContext()).newPage()
  const page = await context.newPage()
  const surroundings = { workshop, missing: missingParts(page) }
  await page.goto(service.sign_in_link)
  await page.locator('[data-run-id]').first().waitFor()
  for (const device of ['laptop', 'phone'] as const) {
    await page.setViewportSize(device === 'phone' ? PHONE : LAPTOP)
    for (const picture of pages.filter(({ phone }) => phone || device === 'laptop')) {
      await show(page, picture)
      await takeThemes(page, device, picture, { ...surroundings, take: taken => take(taken, workshop) })
    }
  }
}

async function openContext(browser: Browser, replacements: Replacements): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: LAPTOP,
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'UTC',
  })
  context.setDefaultTimeout(60_000)
  await context.clock.setFixedTime(NOW)
  await context.exposeFunction('steadyJson', (json: string, live: boolean) =>
    steadyJson(json, live, replacements),
  )
  await context.addInitScript(rewriteResponses)
  const inter = font('Inter', 'inter/files/inter-latin-wght-normal.woff2')
  const mono = font('JetBrains Mono', 'jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2')
  await context.addInitScript(addFonts, [inter, mono])
  return context
}

async function show(page: Page, { path, sign, act }: PagePicture): Promise<void> {
  await page.mouse.move(0, 0)
  await page.goto(SHOWN_ADDRESS + path)
  await page.locator(sign).locator('visible=true').first().waitFor()
  // React listens to keys in an effect, some time after it has shown the page.
  await page.evaluate('new Promise(resolve => requestIdleCallback(resolve))')
  await act?.(page)
}

type Surroundings = { workshop: Page; missing: ReadonlySet<Request> }

/** Returns the parts of the page that were requested and have not arrived. */
function missingParts(page: Page): ReadonlySet<Request> {
  const missing = new Set<Request>()
  page.on(
    'request',
    request => void (parts_of_pages.includes(request.resourceType()) && missing.add(request)),
  )
  page.on('requestfinished', request => void missing.delete(request))
  page.on('requestfailed', request => void missing.delete(request))
  return missing
}

async function takeThemes(
  page: Page,
  device: Picture['device'],
  { name, whole = false }: PagePicture,
  { take, ...surroundings }: Surroundings & { take: (picture: Picture) => Promise<void> },
): Promise<void> {
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme })
    const png = await captureStill(page, whole, surroundings)
    if (png === null) throw new Error(`the page ${name} does not come to rest`)
    await take({ name, theme, device, page, png })
  }
}

const has_loaded = 'window.pending === 0 && document.fonts.status === "loaded"'
/**
 * Arrived code may still have to be evaluated: an import of a module that the page imports too ends after
 * that.
 */
const evaluate_code = `Promise.all(performance.getEntriesByType('resource').map(({ name }) => name)
  .filter(name => name.endsWith('.js') && !name.includes('worker')).map(name => import(name)))`

/**
 * Captures the page once all that it needs has arrived and two captures in a row look the same; null: it did
 * not come to rest.
 */
async function captureStill(
  page: Page,
  whole: boolean,
  { workshop, missing }: Surroundings,
): Promise<Buffer | null> {
  let last: Buffer | null = null
  for (let count = 0; count < MAX_CAPTURES; count++) {
    await page.evaluate(evaluate_code)
    const loaded = missing.size === 0 && (await page.evaluate(has_loaded))
    const png = await page.screenshot({ caret: 'hide', animations: 'disabled', fullPage: whole })
    if (loaded && last && (await lookSame(workshop, last, png))) return png
    last = loaded ? png : null
    await page.waitForTimeout(CAPTURE_PAUSE_MS)
  }
  return null
}

async function lookSame(workshop: Page, one: Buffer, other: Buffer): Promise<boolean> {
  if (one.equals(other)) return true
  const [first, second] = [await reducePicture(workshop, one), await reducePicture(workshop, other)]
  return (await differingShare(workshop, first.small, second.small, CORNER_STEP)) === 0
}
