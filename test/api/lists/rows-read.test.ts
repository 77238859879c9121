import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../../src/contract/limits.ts'
import { Database } from '../../../src/store/database.ts'
import { createTestDatabase } from '../../database.ts'
import { type FilledDatabase, fillDatabase } from '../../scale/fill-database.ts'
import { explained, type RowsRead } from '../../scale/rows-read.ts'
import { lists, routine, type Work } from '../../scale/statements.ts'

const SIZE = { runs: 40_000, entries: 60_000, long_run: 20_000 }
/** The names of the statements, before there is a database. */
const named: FilledDatabase = {
  organization_id: 1,
  user_id: 1,
  repository_id: 1,
  long_run_id: 1,
  live_run_id: 0,
  runs: SIZE.runs,
}

const stack = new AsyncDisposableStack()
let db: Database
let filled: FilledDatabase
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  db = stack.use(new Database(url, { max: 1, on_error: () => {}, statement_ms: 120_000 }))
  filled = await fillDatabase(db, SIZE)
})
afterAll(() => stack.disposeAsync())

/** What the statements of some work read; nothing of it remains. */
async function rowsReadBy(work: Work | undefined): Promise<RowsRead> {
  const sums: RowsRead = {}
  const undone = db.transaction(async tx => {
    await work?.(explained(tx, sums))
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  return sums
}

/** Tables that grow with the number of runs: a small one is best read as a whole. */
const large = [
  'runs',
  'run_texts',
  'run_tags',
  'log_entries',
  'pull_requests',
  'sandboxes',
  'usage_days',
  'journal',
  'events',
  'checks',
]
const over = (sums: RowsRead, most: number) =>
  Object.entries(sums).filter(([table, rows]) => large.includes(table) && rows > most)

/**
 * The page and what is counted after it, and as many rows that are skipped: archived ones, those of other
 * organizations. Half of the table.
 */
const MAX_OF_LIST = 2 * limits.page_count

describe('a list reads its page and what it counts, not the table', () => {
  test.each(Object.keys(lists(named)))('%s', async name => {
    const sums = await rowsReadBy(lists(filled)[name])
    expect(Object.keys(sums)).not.toEqual([])
    expect(over(sums, MAX_OF_LIST)).toEqual([])
  })
})

describe('what processes do all the time reads the live runs at most', () => {
  test.each(Object.keys(routine(named)))('%s', async name => {
    const sums = await rowsReadBy(routine(filled)[name])
    expect(Object.keys(sums)).not.toEqual([])
    expect(over(sums, 3_000)).toEqual([])
  })
})

test('a statement that reads a table is found', async () => {
  const sums = await rowsReadBy(tx => tx.query({ text: `select count(*) from runs where prompt like '%x'` }))
  expect(over(sums, MAX_OF_LIST)).toEqual([['runs', SIZE.runs]])
})
