import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import type { Database } from '../../src/store/database.ts'
import { notifyRun } from '../../src/store/notify.ts'
import { append } from '../../src/store/runs/append.ts'
import { entry } from '../../src/trace/entry.ts'
import { makeRepository } from '../make-repository.ts'
import { median } from '../rate.ts'
import { startDatabase } from '../start-database.ts'
import { type Node, nodeSettings, startNode, startNodeIn } from '../start-node.ts'
import { TOKEN } from '../start-service.ts'
import { openTab, signIn, startBrowser, type Tab } from './browser.ts'
import { writeLongTrace } from './long-trace.ts'
import { scrollFrames } from './scroll-frames.ts'

const ENTRIES = 100_000
const ROUNDS = 3
const RUN_ID = 1
const LAST = 'quagmire'
const searches = [
  'the',
  'error',
  'e',
  'null',
  'output',
  'spy stub',
  'cipher digest',
  LAST,
  'zebra crossing',
  'ошибка',
  'qz',
  '✗',
]

type World = { browser: Browser; session: Awaited<ReturnType<typeof signIn>>; base_url: string }

/** The page of a run with 100,000 entries in Chromium, beside the budgets of its interface. */
export async function page(): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const repository = stack.use(makeRepository())
  const database = stack.use(await startDatabase())
  const env = {
    ...nodeSettings(database, repository, { base_url: 'http://127.0.0.1:9' }),
    AGENTRUN_PORT: String(await freePort()),
  }
  const service = await startNode(stack, env, 'serve')
  const db = database.open(4)
  await call(service, 'POST', '/agent/run', { prompt: 'A long trace.', repoless: true })
  await writeLongTrace(db, [1, RUN_ID], ENTRIES, LAST)
  const browser = await startBrowser()
  stack.defer(() => browser.close())
  const world: World = {
    browser,
    session: await signIn(browser, service.data_dir),
    base_url: service.base_url,
  }
  const lines = [`page: the trace of a run with ${ENTRIES} entries of 1 to 4 KB`]
  lines.push(...(await firstView(world)))
  lines.push(...(await scrolling(world)))
  lines.push(...(await timeline(world, service)))
  lines.push(...(await searching(world, service)))
  lines.push(...(await reconnection(world, { stack, env, service, db })))
  return [...lines, ''].join('\n')
}

const line = (name: string, value: string, target: string, met: boolean) =>
  `  ${name.padEnd(44)} ${value}, target ${target} ${met ? 'met' : 'MISSED'}`

const traceUrl = ({ base_url }: World) => `${base_url}/agent/trace/${RUN_ID}`

async function openTrace(world: World, tab: Tab): Promise<void> {
  await tab.page.goto(traceUrl(world))
  await tab.page.locator(`#e${ENTRIES}`).waitFor()
}

/**
 * The largest contentful paint with an empty cache at 4 Mbit/s and 80 ms, and what was transferred, with the
 * heads of the responses.
 */
async function firstView(world: World): Promise<string[]> {
  const times: number[] = []
  let sizes: Record<'code' | 'entries', number[]> = { code: [], entries: [] }
  for (let round = 0; round < ROUNDS; round++) {
    await using tab = await openTab(world.browser, world.session)
    await tab.tools.send('Network.enable')
    const rate = (4 * 1024 * 1024) / 8
    await tab.tools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 80,
      downloadThroughput: rate,
      uploadThroughput: rate,
    })
    sizes = { code: [], entries: [] }
    const kinds = new Map<string, keyof typeof sizes>()
    tab.tools.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (/\.(js|css)$/.test(request.url)) kinds.set(requestId, 'code')
      if (/\/logs\?skip=/.test(request.url)) kinds.set(requestId, 'entries')
    })
    tab.tools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const kind = kinds.get(requestId)
      if (kind) sizes[kind].push(encodedDataLength)
    })
    await openTrace(world, tab)
    await delay(1_500)
    times.push(
      await tab.page.evaluate<number>(
        `new Promise(resolve => new PerformanceObserver(list => resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true }))`,
      ),
    )
  }
  const lcp = median(times)
  const code = sizes.code.reduce((sum, size) => sum + size, 0) / 1_000
  const entries = Math.max(...sizes.entries) / 1_000
  return [
    line('largest contentful paint at 4 Mbit/s, 80 ms', `${lcp.toFixed(0)} ms`, '≤ 1,500 ms', lcp <= 1_500),
    line('code in transit', `${code.toFixed(0)} kB in ${sizes.code.length} files`, '≤ 200 kB', code <= 200),
    `  ${'a page of the feed in transit'.padEnd(44)} ${entries.toFixed(1)} kB`,
  ]
}

/**
 * Fast scrolling at both ends of the trace. The processor time of the main thread for a frame hardly depends
 * on the load of the machine.
 */
async function scrolling(world: World): Promise<string[]> {
  const rates: Record<string, number[]> = { 'an empty page': [], 'the end': [], 'the beginning': [] }
  const costs: Record<string, number[]> = { 'an empty page': [], 'the end': [], 'the beginning': [] }
  const measure = async (name: string, { page, tools }: Tab) => {
    const { per_second, main_thread_ms } = await scrollFrames(page, tools)
    rates[name]?.push(per_second)
    costs[name]?.push(main_thread_ms)
  }
  let heap = 0
  for (let round = 0; round < ROUNDS; round++) {
    await using tab = await openTab(world.browser, world.session)
    await tab.page.setContent(
      '<div style="height:9000000px;background:repeating-linear-gradient(#eee 0 32px,#ccc 32px 64px)"></div>',
    )
    await measure('an empty page', tab)
    await openTrace(world, tab)
    await measure('the end', tab)
    await tab.page.evaluate(`document.querySelector('[role=feed]').scrollTop = 60000`)
    await tab.page.getByRole('feed').locator('article').first().waitFor()
    await measure('the beginning', tab)
    await tab.tools.send('HeapProfiler.enable')
    await tab.tools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await tab.tools.send('Runtime.getHeapUsage')
    heap = Math.max(heap, usedSize / 1024 / 1024)
  }
  return [
    ...Object.entries(rates).map(([name, values]) => {
      const rate = median(values)
      return line(
        `fast scrolling, ${name}`,
        `${rate.toFixed(0)} frames/s, ${median(costs[name] ?? []).toFixed(1)} ms of the main thread each`,
        '≥ 55',
        rate >= 55,
      )
    }),
    line('JavaScript heap after it', `${heap.toFixed(0)} MB`, '≤ 100 MB', heap <= 100),
  ]
}

async function timeline(world: World, service: Node): Promise<string[]> {
  const times: number[] = []
  const shown: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    times.push(await took(() => call(service, 'GET', `/agent/run/${RUN_ID}/timeline`)))
    await using tab = await openTab(world.browser, world.session)
    shown.push(
      await took(async () => {
        await tab.page.goto(traceUrl(world))
        await tab.page.locator('canvas[data-bars]:not([data-bars="0"])').waitFor()
      }),
    )
  }
  return [
    `  ${'timeline of all entries'.padEnd(44)} ${median(times).toFixed(0)} ms; the minimap is drawn ${median(shown).toFixed(0)} ms after the navigation`,
  ]
}

async function searching(world: World, service: Node): Promise<string[]> {
  const lines: string[] = []
  await using tab = await openTab(world.browser, world.session)
  await openTrace(world, tab)
  for (const q of searches) {
    const [first, all]: [number[], number[]] = [[], []]
    let hits = 0
    for (let round = 0; round < ROUNDS; round++) {
      const started = performance.now()
      hits = 0
      for (let after_seq = 0; ; ) {
        const part = await call(
          service,
          'GET',
          `/agent/run/${RUN_ID}/logs/search?q=${encodeURIComponent(q)}&limit=${hits === 0 ? 50 : 0}&after_seq=${after_seq}`,
        )
        if (hits === 0 && (part.seqs as number[]).length > 0) first.push(performance.now() - started)
        hits += (part.seqs as number[]).length
        after_seq = Number(part.searched_to)
        if (part.complete) break
      }
      all.push(performance.now() - started)
      if (hits === 0) first.push(performance.now() - started)
    }
    const on_page = await searchOnPage(tab.page, q)
    const ms = Math.max(median(first), on_page)
    const value = `first hit ${median(first).toFixed(0).padStart(4)} ms, all ${String(hits).padStart(6)} ${median(all).toFixed(0).padStart(5)} ms; on the page ${on_page.toFixed(0)} ms`
    lines.push(line(`search "${q}"`, value, '≤ 500 ms', ms <= 500))
  }
  return lines
}

/**
 * From the key that ends the text to its first match, or to the statement that there is none. Measured by the
 * page: a test polls too seldom.
 */
async function searchOnPage(page: Page, q: string): Promise<number> {
  const box = page.getByLabel('Search the trace')
  await box.fill('')
  await page.locator(`#e${ENTRIES}`).waitFor()
  const shown = page.evaluate<number>(`new Promise(resolve => {
    const box = document.querySelector('[aria-label="Search the trace"]')
    let started
    box.addEventListener('input', () => { started = performance.now() }, { once: true })
    const observer = new MutationObserver(() => {
      if (!/match/i.test(document.querySelector('[data-testid=match-count]')?.textContent ?? '')) return
      observer.disconnect()
      resolve(performance.now() - started)
    })
    observer.observe(document.body, { subtree: true, childList: true, characterData: true })
  })`)
  await box.fill(q)
  return shown
}

type Restarts = { stack: AsyncDisposableStack; env: Record<string, string>; service: Node; db: Database }

/**
 * From the moment when a killed service is ready again until the page shows an entry that was appended
 * meanwhile.
 */
async function reconnection(world: World, { stack, env, service, db }: Restarts): Promise<string[]> {
  await using tab = await openTab(world.browser, world.session)
  await openTrace(world, tab)
  const times: number[] = []
  let current = service
  for (let round = 0; round < ROUNDS; round++) {
    current.child.kill('SIGKILL')
    await current.ended
    await tab.page.getByText('Reconnecting…').waitFor()
    // Long enough for the longest wait between two attempts.
    await delay(4_000 + 1_000 * ((round * 0.618) % 1))
    await append(db, 1, RUN_ID, null, {
      entries: [entry({ message_type: 'PLAN_EVALUATION', thought: `Meanwhile ${round}` })],
    })
    const ready = readyAt(world.base_url)
    const restarted = startNodeIn(stack, env, 'serve', service.data_dir)
    await ready
    const started = performance.now()
    await tab.page.locator(`#e${ENTRIES + round + 1}`).waitFor()
    times.push(performance.now() - started)
    current = await restarted
    await notifyRun(db, 1, RUN_ID)
  }
  const slowest = Math.max(...times)
  return [
    line(
      'reconnection after a restart of the service',
      `slowest ${slowest.toFixed(0)} ms, median ${median(times).toFixed(0)} ms`,
      '≤ 3,000 ms',
      slowest <= 3_000,
    ),
  ]
}

async function readyAt(base_url: string): Promise<void> {
  while (
    !(await fetch(`${base_url}/readyz`).then(
      response => response.ok,
      () => false,
    ))
  )
    await delay(10)
}

async function call(
  service: Node,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.base_url}/v1/organizations/1${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const result = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${result.detail}`)
  return result
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
