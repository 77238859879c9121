import { expect, test } from 'vitest'
import { createRun } from '../runs/await-run.ts'
import { startCodingApp } from '../runs/coding-app.ts'
import { inBrowser, untilStatus } from './visit.ts'

const { app, visit } = await inBrowser(startCodingApp(() => ({ text: 'Nothing.' })))

const prompt = [
  ...[
    'Write the note',
    '',
    '```playbook',
    '- write: {path: note.txt, content: "one\\n"}',
    '- on_checks_failed:',
  ],
  ...[
    '    - write: {path: note.txt, content: "one\\ntwo\\n"}',
    '    - answer: Two lines now.',
    '- answer: Wrote it.',
    '```',
  ],
].join('\n')

test('the trace shows which checks failed, why, and the outcome of the fix; the pull request shows the state of its checks', async () => {
  const checks = [
    { name: 'lines', command: 'test $(wc -l <note.txt) -eq 2 || { echo "not ok: too few lines"; exit 1; }' },
    { name: 'never', command: 'echo "<b>bold</b> claim"; exit 3' },
  ]
  await app.call('PUT', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/checks`, { checks })
  await app.call('PUT', `/v1/organizations/${app.org_id}/repos/check-suite-settings?repo_id=${app.repo_id}`, {
    check_retry_counts: { never: 0 },
  })
  await using someone = await visit()
  const { page } = someone
  const { id } = await createRun(app, { prompt, model: 'scripted/playbook' })
  await someone.open(`/agent/trace/${id}?view=answer`)
  await untilStatus(page, 'completed')
  const detected = page.locator('[data-type=DETECT_PR_ERRORS]')
  await detected.getByText('Checks failed').waitFor()
  await detected.getByText('lines, never').waitFor()
  await detected.getByText('not ok: too few lines').waitFor()
  const fixed = page.locator('[data-type=FIX_PR_ERRORS]')
  await fixed.getByText('lines passes now; never still fails').waitFor()
  await page.getByText('Check', { exact: true }).first().waitFor()
  const card = page.getByRole('region', { name: 'Checks' })
  await card.getByText('Checks: 1 failed, 1 passed').waitFor()
  await card.getByText('never').click()
  // What a check writes is text.
  await card.getByText('<b>bold</b> claim').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
  expect(await card.getByRole('listitem').count()).toBe(2)
})
