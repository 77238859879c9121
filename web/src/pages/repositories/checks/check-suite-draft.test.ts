import { expect, test } from 'vitest'
import { bodyOf, draftOf, no_rule } from './check-suite-draft.ts'

const saved = {
  check_retry_count: 3,
  ignored_checks: ['coverage'],
  check_retry_counts: { lint: 0 },
  custom_prompts: { e2e: 'Run it headless.' },
  high_priority_apps: ['ci', 'build'],
  available_check_suite_names: ['test'],
}

test('settings that were not changed are sent as they were', () => {
  const { available_check_suite_names: _names, ...settings } = saved
  expect(bodyOf(draftOf(saved, ['unit']))).toEqual(settings)
})

test('every known check has a rule: seen ones, configured ones, and the commands of the service', () => {
  expect(Object.keys(draftOf(saved, ['unit']).rules)).toEqual(['coverage', 'e2e', 'lint', 'test', 'unit'])
})

test('what is emptied is removed, and 0 attempts are kept', () => {
  const draft = draftOf(saved, [])
  const body = bodyOf({
    ...draft,
    apps: ' ',
    rules: { lint: { ...no_rule, attempts: '0' }, e2e: { ...no_rule, prompt: ' ' } },
  })
  expect(body).toMatchObject({
    ignored_checks: [],
    check_retry_counts: { lint: 0 },
    custom_prompts: {},
    high_priority_apps: [],
  })
})
