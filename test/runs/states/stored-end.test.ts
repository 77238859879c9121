import { beforeAll, expect, test } from 'vitest'
import { Database } from '../../../src/store/database.ts'
import { createTestDatabase } from '../../database.ts'
import { testFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { gitIn, makeRepository, responses, startCodingApp } from '../coding-app.ts'

/** A bare clone without file contents, of which git reports the missing ones with a NUL in its message. */
let partial_clone: string
beforeAll(() => {
  const complete = makeRepository()
  gitIn(complete, 'config', 'uploadpack.allowFilter', 'true')
  partial_clone = `${testFolder()}/partial.git`
  gitIn(complete, 'clone', '--quiet', '--bare', '--filter=blob:none', `file://${complete}`, partial_clone)
})

test('a NUL in the message of git does not hide why the run failed', async () => {
  await using app = await startCodingApp(responses(), {}, partial_clone)
  const { id } = await createRun(app, { prompt: 'x' })
  const { error, ...run } = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'failed', status_reason: 'git_unavailable' })
  expect(error.message).toContain('the repository cannot be fetched')
  expect(error.message).toMatch(/lazy fetching disabled|promisor|did not send/)
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    message_type: 'ERROR',
    observation: { phase: 'clone' },
  })
})

const refuse = (
  table: string,
  condition: string,
) => `create function refuse() returns trigger language plpgsql as $$
  begin if ${condition} then raise exception 'refused'; end if; return new; end $$;
  create trigger refuse before insert or update on ${table} for each row execute function refuse()`

test('a failure whose message cannot be stored keeps its reason', async () => {
  await using app = await startCodingApp(responses(), {}, partial_clone)
  await app.db.query({ text: refuse('runs', `new.error_message like '%fetched%'`) })
  const { id } = await createRun(app, { prompt: 'x' })
  const { status_reason, error } = await awaitEnd(app, id)
  expect(status_reason).toBe('git_unavailable')
  expect(error.message).toContain('could not be stored as it was')
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    message_type: 'ERROR',
    observation: { message: error.message },
  })
})

test('a failure without a last entry, because none can be stored, keeps its reason', async () => {
  await using app = await startCodingApp(responses(), {}, partial_clone)
  await app.db.query({ text: refuse('log_entries', `new.message_type = 'ERROR'`) })
  const { id } = await createRun(app, { prompt: 'x' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', status_reason: 'git_unavailable' })
  expect((await allLogs(app, id)).map(entry => entry.message_type)).toEqual(['USER_MESSAGE'])
})

test('every text of a statement is stored, with a replacement for what PostgreSQL refuses', async () => {
  await using database = await createTestDatabase()
  await using db = new Database(database.url, { max: 1, on_error: () => {} })
  const values = ['a\0b', 'a\ud800b', ['c\0d', null, ['e\0f', '\udfff']].flat(), null, 1, Buffer.from([0])]
  const text = `select $1::text as nul, $2::text as half, $3::text[] as list, $4::text as nothing, $5::int as count,
        $6::bytea as bytes`
  const stored = {
    nul: 'a\ufffdb',
    half: 'a\ufffdb',
    list: ['c\ufffdd', null, 'e\ufffdf', '\ufffd'],
    nothing: null,
    count: 1,
    bytes: Buffer.from([0]),
  }
  expect((await db.query({ text, values })).rows).toEqual([stored])
  expect(await db.transaction(async tx => (await tx.query({ text, values })).rows)).toEqual([stored])
})
