import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

/** `node scripts/screenshot.ts` makes docs/trace.png: the trace page of a real run of the sample, by a service of its own. */
const clone = fileURLToPath(new URL('../', import.meta.url))
const picture = fileURLToPath(new URL('../docs/trace.png', import.meta.url))

/** Starts the service and returns its sign-in link. Rejects when it ends instead. */
async function startService(data_dir: string): Promise<{ service: ChildProcess; link: string }> {
  const service = spawn(process.execPath, ['src/main.ts'], {
    cwd: clone,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', AGENTRUN_PORT: '0', AGENTRUN_DATA_DIR: data_dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const chunk of service.stdout) {
    output += chunk
    if (output.includes('Start a run')) return { service, link: readFileSync(join(data_dir, 'sign-in-link'), 'utf8').trim() }
  }
  throw new Error(`the service did not start: ${output}`)
}

async function takePicture(link: string): Promise<void> {
  await using browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: { width: 1440, height: 960 }, deviceScaleFactor: 2, colorScheme: 'light' })
  await page.goto(link)
  await page.getByRole('link', { name: 'Try it on the sample repository' }).click()
  await page.getByRole('button', { name: 'Start run' }).click()
  await page.locator('main header').getByText('completed').waitFor()
  await page.getByRole('tab', { name: /Changes/ }).click()
  await page.locator('.diff-code-insert').first().waitFor()
  await page.mouse.move(0, 0)
  await page.screenshot({ path: picture })
}

const folder = mkdtempSync(join(tmpdir(), 'agentrun-screenshot-'))
chmodSync(folder, 0o755)
try {
  const { service, link } = await startService(join(folder, 'data'))
  try {
    await takePicture(link)
  } finally {
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
