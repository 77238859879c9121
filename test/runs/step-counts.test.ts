import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedactionThreads } from '../../src/redaction/thread-pool.ts'
import { channels } from '../../src/store/notify.ts'
import { FilesState } from '../../src/worker/workspace/files-state.ts'
import { Packer } from '../../src/worker/workspace/packer.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { rows } from '../start-app.ts'
import { createRun } from './await-run.ts'
import { type CodingApp, calls, finish, shell, startCodingApp } from './coding-app.ts'

/**
 * What a run sends from its create to its end. `commits`: transactions; a statement outside of one is one.
 * `kilobytes`: parameters of statements. `large_texts_redacted`: texts above 16 KiB that were searched for
 * secrets.
 */
type Counts = {
  statements: number
  commits: number
  notifications: number
  kilobytes: number
  large_texts_redacted: number
}

/**
 * The budget of a change: a commit that raises a number states why it is worth it. Kilobytes and the other
 * costs of a run are maxima.
 */
const STEP: Counts = { statements: 2, commits: 2, notifications: 0, kilobytes: 2, large_texts_redacted: 0 }
const STEP_OF_64_KB: Counts = {
  statements: 2,
  commits: 2,
  notifications: 0,
  kilobytes: 128,
  large_texts_redacted: 1,
}
/**
 * With the one about shared pots, which names the run since it reads more than the organization's; it was
 * sent before, too.
 */
const RUN_OF_8_STEPS: Counts = {
  statements: 74,
  commits: 43,
  notifications: 5,
  kilobytes: 26,
  large_texts_redacted: 0,
}

/**
 * As often as a run takes long: heartbeats of its lease; and checkpoints that are stored beside a step, of
 * the first files and the last.
 */
const timed = /^heartbeats?$|checkpoint/

const LARGE = `head -c 48000 /dev/urandom | base64 -w 99 | head -c 64000`
/** The prompt is the number of steps and their command. */
const script: FakeScript = ({ body }) => {
  const messages = body.messages as { role: string; content: string }[]
  const prompt = messages.find(({ role }) => role === 'user')?.content ?? ''
  const step = messages.filter(({ role }) => role === 'assistant').length
  const [, steps = '0', command = ''] = /^(\d+) × ([\s\S]*)$/.exec(prompt) ?? []
  return step < Number(steps) ? calls(shell(`${command} # ${step}`)) : finish('Done.')
}

let app: CodingApp
const query = vi.spyOn(pg.Client.prototype, 'query')
const redact = vi.spyOn(RedactionThreads.prototype, 'run')
const capture = vi.spyOn(FilesState.prototype, 'capture')

beforeAll(async () => {
  app = await startCodingApp(script, { AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake' })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await app[Symbol.asyncDispose]()
})

/**
 * Plays a run without a viewer; returns what it sent in all, and what each step sent from the end of the
 * third tool to that of the last.
 */
async function countsOf(steps: number, command: string): Promise<{ run: Counts; step: Counts }> {
  const ear = new pg.Client({ connectionString: app.database_url })
  const completed = Promise.withResolvers<void>()
  await ear.connect()
  const from = query.mock.calls.length
  const searched_from = redact.mock.calls.length
  let run_id = 0
  ear.on('notification', async () => {
    const [run] =
      run_id === 0
        ? []
        : await rows<{ status: string }>(app, 'select status from runs where id = $1', [run_id])
    if (run?.status === 'completed') completed.resolve()
  })
  await ear.query(`listen ${channels.run}`)
  run_id = (await createRun(app, { prompt: `${steps} × ${command}` })).id
  await completed.promise
  await ear.end()
  const sent = query.mock.calls.slice(from).map((args, i) => ({
    client: query.mock.contexts[from + i],
    order: query.mock.invocationCallOrder[from + i] ?? 0,
    query: Object(args[0]) as SentQuery['query'],
  }))
  const searched = redact.mock.invocationCallOrder.slice(searched_from)
  const transactions = transactionsIn(sent).filter(transaction =>
    transaction.some(({ query }) => isOf(query, run_id)),
  )
  const ends = sent
    .filter(({ query }) => isOf(query, run_id) && JSON.stringify(query.values).includes('tool_finished'))
    .map(({ order }) => order)
  const [first = 0, last = 0] = [ends[2], ends[steps - 1]]
  const between = (order: number) => order > first && order <= last
  const all = countsIn(transactions, searched)
  const some = countsIn(
    transactions.filter(([one]) => between(one?.order ?? 0)),
    searched.filter(between),
  )
  const step = Object.fromEntries(
    Object.entries(some).map(([name, count]) => [name, count / (steps - 3)]),
  ) as Counts
  return { run: all, step }
}

type SentQuery = {
  client: unknown
  order: number
  query: { name?: string; text?: string; values?: unknown[] }
}

function countsIn(transactions: SentQuery[][], searched: number[]): Counts {
  const statements = transactions.flat()
  const bytes = statements.reduce(
    (sum, { query }) => sum + Buffer.byteLength(JSON.stringify(query.values ?? [])),
    0,
  )
  return {
    statements: statements.length,
    commits: transactions.length,
    notifications: statements.filter(({ query }) => query.name?.startsWith('notify')).length,
    kilobytes: bytes / 1000,
    large_texts_redacted: searched.length,
  }
}

/**
 * The committed transactions, with their first and last statement; each other statement is one. Without those
 * of heartbeats and checkpoints.
 */
function transactionsIn(sent: SentQuery[]): SentQuery[][] {
  const transactions: SentQuery[][] = []
  const open = new Map<unknown, SentQuery[]>()
  for (const one of sent) {
    const { text, name } = one.query
    const transaction = open.get(one.client)
    if (text === 'begin') open.set(one.client, [one])
    else if (transaction) transaction.push(one)
    else if (name !== undefined && !timed.test(name)) transactions.push([one])
    const isTimed = transaction?.some(({ query }) => timed.test(query.name ?? ''))
    if (transaction && text === 'commit' && !isTimed) transactions.push(transaction)
    if (text === 'commit' || text === 'rollback') open.delete(one.client)
  }
  return transactions
}

/** Statements name the organization and then the run; notifications name both in their payload. */
const isOf = ({ values = [] }: SentQuery['query'], run_id: number): boolean =>
  values[1] === run_id ||
  values.some(value => JSON.stringify(value ?? null).includes(`"${app.org_id}:${run_id}`))

function expectWithin(counts: Counts, { kilobytes, ...exact }: Counts) {
  expect(counts).toMatchObject(exact)
  expect(counts.kilobytes).toBeLessThanOrEqual(kilobytes)
}

test('a step sends two statements and no notification, and its output is searched for secrets once', async () => {
  // The first run of a repository records its default branch.
  await countsOf(4, 'true')
  const small = await countsOf(8, 'true')
  expectWithin(small.step, STEP)
  for (const [name, count] of Object.entries(RUN_OF_8_STEPS))
    expect(small.run[name as keyof Counts], name).toBeLessThanOrEqual(count)
  expectWithin((await countsOf(5, LARGE)).step, STEP_OF_64_KB)
})

test('only the first steps and those that change files are followed by a snapshot, and each turn ends with one', async () => {
  const snapshotsOf = async (steps: number, command: string) => {
    const before = capture.mock.calls.length
    await countsOf(steps, command)
    return capture.mock.calls.length - before
  }
  // The first one shows the files of the checkout; within a tick of the clock after it nothing is certain.
  expect(await snapshotsOf(8, 'cat README.md; sleep 0.03')).toBe(3)
  expect(await snapshotsOf(5, 'date >>times; sleep 0.03')).toBe(6)
})

test('each step that changes files has a checkpoint, which is stored when its outcome is recorded; other steps have none', async () => {
  const pack = vi.spyOn(Packer.prototype, 'pack')
  const packsOf = async (steps: number, command: string) => {
    pack.mockClear()
    await countsOf(steps, command)
    return pack.mock.calls.length
  }
  // The files of the checkout, and the commit at the end.
  expect(await packsOf(6, 'date +%N >>times')).toBe(6 + 2)
  expect(await packsOf(6, 'cat README.md')).toBe(1)
  const [late] = await rows<{ number: number }>(
    app,
    `select count(*)::int as number
      from checkpoints c
      join log_entries l using (organization_id, run_id, seq)
      where l.tool_name = 'shell' and c.created_at <> l.created_at`,
  )
  expect(late?.number).toBe(0)
})
