import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())

type Link = { href: string; rel: string }

const xss = '<img src=x onerror="window.owned=1"><script>window.owned=1</script><svg onload=window.owned=1>'
const output = [
  // A terminal erases what is before it.
  '\\033[2J',
  xss,
  '\\033]8;;javascript:window.owned=1\\033\\\\\\\\click me\\033]8;;\\033\\\\\\\\',
  '\\033]8;;https://example.com/\\033\\\\\\\\a real link\\033]8;;\\033\\\\\\\\',
  '\\033]0;title\\007\\033]52;c;ZXZpbA==\\007',
  '\\033[1;31mred\\033[0m',
  'user\\342\\200\\256txt.exe',
].join('\\n')
const answer = [
  xss,
  '[click](javascript:window.owned=1)',
  '![pic](https://evil.example/p.png)',
  '[safe](https://example.com/)',
  'gpj\u202Eexe',
].join('\n\n')

const prompt = playbook(
  `${xss} \u202Egnp`,
  `thought: ${JSON.stringify(xss)}`,
  `plan: [${JSON.stringify(xss)}]`,
  `run: ${JSON.stringify(`printf '${output.replaceAll('\\\\\\\\', '\\\\')}'`)}`,
  `write: { path: ${JSON.stringify('<img src=x onerror=window.owned=1> \u202Egnp.txt')}, content: ${JSON.stringify(`${xss}\n`)} }`,
  `answer: ${JSON.stringify(answer)}`,
)

test('F124 hostile text from prompt, output, file names and answer is inert everywhere', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const run = await createRun(app, { prompt, title: `${xss} \u202Egnp`, tags: [xss.slice(0, 40)] })
  const ended = await awaitEnd(app, run.id)
  expect(ended.error).toBeNull()
  expect(ended.status).toBe('completed')
  await page.locator(`[data-run-id="${run.id}"]`).waitFor()
  for (const view of ['answer', 'changes', 'files', 'config']) {
    await someone.open(`/agent/trace/${run.id}?view=${view}`)
    const feed = page.getByRole('feed')
    await feed.locator('[data-type=FINAL_ANSWER]').waitFor()
    if (view === 'answer') await page.locator('.prose a').first().waitFor()
    if (view === 'changes') await page.locator('.diff-code-insert').first().waitFor()
    if (view === 'files') {
      await page.getByRole('treeitem', { name: '<img src=x' }).click()
      await page.getByRole('region', { name: 'Content' }).waitFor()
      // Earlier entries do not have this file.
      await page.goBack()
    }
    // Every entry is opened.
    for (let seq = 1; seq <= ended.total_logs; seq++) {
      await page.keyboard.press('k')
      await page.keyboard.press('o')
    }
    expect(await page.evaluate('window.owned')).toBeUndefined()
    expect(await page.locator('main img, main script, main iframe, main object').count()).toBe(0)
    expect(await page.locator('a[href^="javascript" i], a[href^="data" i]').count()).toBe(0)
    const links = await page
      .locator('a[target=_blank]')
      .evaluateAll((all: Link[]) => all.map(({ href, rel }) => ({ href, rel })))
    for (const link of links)
      expect(link).toEqual({ href: 'https://example.com/', rel: 'noopener noreferrer' })
    expect(await page.evaluate('document.body.innerText + document.title')).not.toMatch(
      /[\u202A-\u202E\u2066-\u2069\u001b]/,
    )
  }
})

test('colours and http links of a terminal are shown, its other sequences are not', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt })
  await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}?type=ACTION`)
  const terminal = page.getByRole('feed').locator('article', { hasText: 'printf' }).locator('pre').first()
  await terminal.locator('.ansi-red-fg', { hasText: 'red' }).waitFor()
  expect(await terminal.getByRole('link', { name: 'a real link' }).getAttribute('href')).toBe(
    'https://example.com/',
  )
  const text = await terminal.textContent()
  expect(text).toContain('<img src=x onerror=')
  expect(text).toContain('user⟨U+202E⟩txt.exe')
  expect(text).not.toMatch(/52;c|\]8;;|2J/)
})

test('F124 the policy of the page allows nothing inline and nothing from elsewhere', async () => {
  await using someone = await visit({ accept: /Content Security Policy|foreign request|404 \(Not Found\)/ })
  const { page } = someone
  const response = await page.goto(`${app.base_url}/`)
  const policy = response?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toMatch(/unsafe|\*/)
  expect(response?.headers()['cache-control']).toBe('no-store')
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  await page.evaluate(`
    document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.owned=1">')
    const script = document.createElement('script')
    script.textContent = 'window.owned=1'
    document.body.append(script)
  `)
  const reached = await page.evaluate(`fetch('https://example.com/').then(() => 'reached', () => 'refused')`)
  expect(reached).toBe('refused')
  expect(await page.evaluate('window.owned')).toBeUndefined()
})
