import { expect, test } from 'vitest'
import { runListSearch } from '../../search-params.ts'
import { filterOf } from './run-filter.ts'

test('a filter by days includes the first and the last moment of them', () => {
  const { created_after = '', created_before = '' } = filterOf({ from: '2026-11-02', to: '2026-11-02' })
  const within = (date: Date) => created_after < date.toISOString() && date.toISOString() < created_before
  expect(within(new Date(2026, 10, 2))).toBe(true)
  expect(within(new Date(2026, 10, 2, 23, 59, 59, 999))).toBe(true)
  expect(within(new Date(2026, 10, 1, 23, 59, 59, 999))).toBe(false)
  expect(within(new Date(2026, 10, 3))).toBe(false)
})

test('the address has several statuses in one parameter, and what is invalid is ignored', () => {
  expect(runListSearch({ status: 'failed,running,none' }).status).toEqual(['running', 'failed'])
  expect(runListSearch({ status: ['failed'] }).status).toEqual(['failed'])
  const search = {
    status: 'x',
    reason: 'x',
    user: 'x',
    source: 'constructor',
    from: '2026-13-45',
    to: 'x',
    repo: '-1',
  }
  expect(Object.values(runListSearch(search)).filter(value => value !== undefined)).toEqual([])
})
