import { expect, test } from 'vitest'
import { rows, startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('a dialog and an added row begin in their first field, so that one types at once and Enter closes nothing', async () => {
  await using someone = await visit()
  const { page } = someone
  for (const [path, button, field] of [
    ['/repositories', 'Add repository', 'Address or path'],
    ['/settings/members', 'Invite a person', 'E-mail'],
    ['/settings/secrets', 'Add secret', 'Name'],
  ] as const) {
    await someone.open(path)
    await page.getByRole('button', { name: button }).first().click()
    await page.getByRole('dialog').getByLabel(field).and(page.locator(':focus')).waitFor()
  }
  await someone.open(`/repositories/${app.repo_id}/setup`)
  await page.getByRole('button', { name: 'Add command' }).click()
  await page.keyboard.type('make')
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.keyboard.type('CI')
  expect(await page.getByRole('textbox', { name: 'Command 1' }).inputValue()).toBe('make')
  expect(await page.getByRole('textbox', { name: 'Name of variable 1' }).inputValue()).toBe('CI')
  await page.getByRole('link', { name: 'Checks' }).click()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('button', { name: 'Add check' }).click()
  await page.keyboard.type('lint')
  expect(await page.getByRole('form', { name: 'Commands' }).getByLabel('Name').inputValue()).toBe('lint')
})

test('a dialog with changed values asks before Escape, its cross or a click beside it closes it; one without closes at once and returns the focus', async () => {
  await using someone = await visit({ path: '/settings/secrets' })
  const { page } = someone
  const dialog = page.getByRole('dialog', { name: 'Add secret' })
  const name = dialog.getByLabel('Name')
  const leave = [
    () => page.keyboard.press('Escape'),
    () => dialog.getByRole('button', { name: 'Close' }).click(),
    () => page.mouse.click(5, 5),
  ]
  for (const close of leave) {
    await page.getByRole('button', { name: 'Add secret' }).first().click()
    await name.waitFor()
    await close()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Add secret' }).and(page.locator(':focus')).waitFor()
    await page.getByRole('button', { name: 'Add secret' }).first().click()
    await name.fill('DEPLOY_KEY')
    await close()
    await dialog.getByRole('alert').getByText('not saved').waitFor()
    await dialog.getByRole('button', { name: 'Continue editing' }).click()
    expect(await name.inputValue()).toBe('DEPLOY_KEY')
    await close()
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
})

test('a refused save shows its first invalid field, what was typed is still not discarded without a question, and a cancelled deletion returns the focus', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/settings/secrets' })
  const { page } = someone
  const dialog = page.getByRole('dialog', { name: 'Add secret' })
  await page.getByRole('button', { name: 'Add secret' }).first().click()
  await dialog.getByLabel('Name').fill('bad name')
  await dialog.getByLabel('Value').fill('of the secret')
  await dialog.getByRole('button', { name: 'Add secret' }).click()
  await dialog.getByLabel('Name').and(page.locator('[aria-invalid=true]:focus')).waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByRole('alert').getByText('not saved').waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByLabel('Value').and(page.locator(':focus')).waitFor()
  await dialog.getByLabel('Name').fill('GOOD_NAME')
  await dialog.getByRole('button', { name: 'Add secret' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Delete GOOD_NAME' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Delete GOOD_NAME' }).and(page.locator(':focus')).waitFor()
})

test('a deletion that ends after its dialog was closed leaves the next dialog open, also one of the row that is gone', async () => {
  await using someone = await visit({ path: '/settings/secrets' })
  const { page } = someone
  await rows(app, 'delete from secrets')
  for (const name of ['FIRST', 'SECOND'])
    await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/${name}`, { value: 'of the secret' })
  await someone.open('/settings/secrets')
  const dialog = page.getByRole('dialog')
  for (const [deleted, replaced] of [
    ['FIRST', 'SECOND'],
    ['SECOND', 'SECOND'],
  ]) {
    const held = Promise.withResolvers<void>()
    await page.route(`**/secrets/${deleted}`, async route => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('button', { name: `Delete ${deleted}` }).click()
    await dialog.getByRole('button', { name: 'Delete secret' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: `Replace ${replaced}` }).click()
    await dialog.getByLabel('Value').fill('typed meanwhile')
    held.resolve()
    await dialog.getByText(`${deleted} was deleted`).waitFor()
    expect(await dialog.getByLabel('Value').inputValue()).toBe('typed meanwhile')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
})

test('a dialog that a menu opened returns the focus to the button of the menu', async () => {
  await using someone = await visit({ path: '/settings/members' })
  const { page } = someone
  const button = page.getByRole('button', { name: /^Actions for/ })
  const item = page.getByRole('menuitem', { name: 'Create sign-in link' })
  const choices = [() => item.click(), () => item.press('Enter')]
  for (const choose of choices) {
    await button.click()
    await choose()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await button.and(page.locator(':focus')).waitFor()
    expect(await page.getByRole('menu').count()).toBe(0)
  }
})

test('what is edited while a form is sent is kept, and can be saved then', async () => {
  await using someone = await visit({ path: '/settings' })
  const { page } = someone
  const form = page.getByRole('form', { name: 'Organization' })
  const held = Promise.withResolvers<void>()
  await page.route(`**/organizations/${app.org_id}`, async (route, request) => {
    if (request.method() === 'PATCH') await held.promise
    await route.continue()
  })
  await form.getByLabel('Name').fill('Renamed')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('textbox', { name: 'Rules', exact: true }).fill('Use tabs.')
  held.resolve()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  expect(await form.getByRole('textbox', { name: 'Rules', exact: true }).inputValue()).toBe('Use tabs.')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.locator('[aria-description="No changes to save"]').waitFor()
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}`)
  expect(body).toMatchObject({ name: 'Renamed', rules: 'Use tabs.' })
})
