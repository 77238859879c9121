import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook, untilStatus } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

/** More presses than anybody would make to reach a control. */
const MAX_TABS = 40

/** Presses Tab until an element has the focus. Each stop on the way must show that it has it. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let presses = 0; presses < MAX_TABS; presses++) {
    if (await wanted.evaluate(element => element.matches(':focus'))) return
    await page.keyboard.press('Tab')
    expect(
      await page.evaluate(
        'document.activeElement === document.body || document.activeElement.matches(":focus-visible")',
      ),
    ).toBe(true)
  }
  throw new Error(`${wanted} is not among the first ${MAX_TABS} stops of the Tab key`)
}

test('a person without a mouse signs in, starts a run, opens its trace, follows up and stops it', async () => {
  await using someone = await visit({ signed_in: false, accept: /401 \(Unauthorized\)/ })
  const { page } = someone
  const { keyboard } = page
  await someone.open('/sign-in')
  const link = page.getByLabel('paste the sign-in link')
  await link.waitFor()
  await tabTo(page, link)
  await keyboard.insertText(await app.signInLink())
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()

  const new_run = page.getByRole('link', { name: 'New run' }).first()
  await tabTo(page, new_run)
  await keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Describe the task' }).and(page.locator(':focus')).waitFor()
  await keyboard.insertText(playbook('By keyboard', 'answer: "One."'))
  await tabTo(page, page.getByRole('button', { name: 'Start run' }))
  await keyboard.press('Enter')
  await untilStatus(page, 'completed')

  await keyboard.press('g')
  await keyboard.press('r')
  const run = page.getByRole('link', { name: 'By keyboard' })
  await run.waitFor()
  await tabTo(page, run)
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'By keyboard' }).waitFor()
  await page.getByRole('feed').getByText('One.', { exact: true }).waitFor()
  await keyboard.press('i')
  await page.locator('#follow-up:focus').waitFor()
  await keyboard.insertText('A draft')
  await keyboard.press('Escape')
  await page.locator('[role=feed] article:focus').waitFor()
  await keyboard.press('i')
  expect(await page.locator('#follow-up:focus').inputValue()).toBe('A draft')
  await keyboard.press('Control+a')
  await keyboard.insertText(playbook('And again', 'run: tail -f /dev/null'))
  await keyboard.press('Control+Enter')
  await page.getByText('· running a tool').waitFor()

  await tabTo(page, page.getByRole('button', { name: 'Stop' }))
  await keyboard.press('Enter')
  await untilStatus(page, 'cancelled')
})
