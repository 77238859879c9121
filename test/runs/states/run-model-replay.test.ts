import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { no_budget } from '../../../src/contract/runs/run-limits.ts'
import type { RunStatus, StatusReason } from '../../../src/contract/runs/runs.ts'
import type { TurnOutcome } from '../../../src/core/runs/outcome.ts'
import { ServiceError } from '../../../src/core/service-error.ts'
import type { Context } from '../../../src/service/context.ts'
import { pauseRun } from '../../../src/service/runs/pause-run.ts'
import { resumeRun } from '../../../src/service/runs/resume-run.ts'
import { stopRun } from '../../../src/service/runs/stop-run.ts'
import { Database, only } from '../../../src/store/database.ts'
import { claimRun } from '../../../src/store/leases/claims.ts'
import { heartbeat, heartbeats } from '../../../src/store/leases/leases.ts'
import { recordStall } from '../../../src/store/leases/stalls.ts'
import { insertMessage, takeMessages } from '../../../src/store/runs/messages.ts'
import { getRun, insertRun, type RunRow } from '../../../src/store/runs/runs.ts'
import { FencedError } from '../../../src/worker/claim/fenced-error.ts'
import { RunWriter } from '../../../src/worker/claim/run-writer.ts'
import type { WorkerServices } from '../../../src/worker/services.ts'
import { sweepRuns } from '../../../src/worker/sweep/recover-lost-runs.ts'
import { writeOutcome } from '../../../src/worker/turns/write-outcome.ts'
import { createTestDatabase } from '../../database.ts'
import {
  claimed,
  created,
  ended,
  heartbeatSent,
  messagesRead,
  pauseRequested,
  type Row,
  type End as RowEnd,
  resumed,
  stalled,
  stopRequested,
  swept,
  type Times,
  turnBegun,
} from './run-model.ts'

/**
 * The statements of the store, the verbs of people, the ends of a worker and the sweep, in any order and with
 * jumps of the clock, against the pure rules of test/runs/states/run-model.ts: after each of them the row
 * follows these rules. Time passes by moving due times towards now.
 */
const seed = Number(process.env.TEST_SEED ?? 1)
const more = Number(process.env.TEST_MORE ?? 1)

// Sums of the jumps are never near one of these.
const times: Times = {
  lease: 62,
  queue: 1_002,
  turn: 2_003,
  answer: 3_002,
  checks: 1_502,
  fence: 5,
  pause: 10,
}
const JUMPS = [45, 400, 2_000]
const NEAR_SECONDS = 3
const MAX_LOSSES = 2

let db: Database
let member: { organization_id: number; user_id: number }
const stack = new AsyncDisposableStack()
beforeAll(async () => {
  db = stack.use(new Database(stack.use(await createTestDatabase()).url, { max: 3, on_error: () => {} }))
  const insert = async (text: string) => only((await db.query<{ id: number }>({ text, values: [] })).rows).id
  member = {
    organization_id: await insert(`insert into organizations (name) values ('one') returning id`),
    user_id: await insert(`insert into users (email) values ('one@example.org') returning id`),
  }
})
afterAll(() => stack.disposeAsync())

const log = () => {}
const worker_deps = {
  queue_seconds: times.queue,
  answer_seconds: times.answer,
  log,
} as unknown as WorkerServices
const sweep_deps = () =>
  ({
    db,
    max_losses: MAX_LOSSES,
    queue_seconds: times.queue,
    log,
    host: 'h',
    driver: { end: async () => {} },
    folder_id: null,
    owner: null,
    telemetry: { leasesExpired() {} },
  }) as unknown as Parameters<typeof sweepRuns>[0]
const person = () =>
  ({
    db,
    organization_id: member.organization_id,
    base_url: 'http://x',
    queue_seconds: times.queue,
    traceparent: null,
    actor: { user_id: member.user_id },
    known_values: [],
    organizationModels: async () => ({ get: () => ({ id: 'm', scripted: false }) }),
  }) as unknown as Context

type World = { row: Row; now: number; id: number; claims: (RunWriter | null)[] }
type Op = { name: string; model(world: World): Row | null; real(world: World): Promise<unknown> }

async function newWorld(): Promise<World> {
  const run = {
    source_type: 'API',
    agent_type: 'a',
    model: 'm',
    prompt: 'p',
    title: 't',
    tags: [],
    metadata: null,
    webhooks: null,
    base_ref: null,
    base_sha: null,
    auto_create_pr: false,
    parent_run_id: null,
    budget: no_budget,
    deadline_seconds: times.queue,
    repository_id: null,
  } as const
  const { id } = await insertRun(db, { ...run, tags: [], ...member } as Parameters<typeof insertRun>[1])
  await insertMessage(db, { ...member, run_id: id, seq: 1, turn: 1, mode: 'prompt', text: 'p', images: null })
  return { row: created(0, times), now: 0, id, claims: [null, null] }
}

const ends: Record<RowEnd, TurnOutcome> = {
  completed: { kind: 'completed', reason: null, text: 'done', thought: null },
  failed: { kind: 'failed', reason: 'agent_error', code: 'x', message: 'x', phase: 'agent' },
  waiting: { kind: 'waiting', approval_of: null },
  checks: { kind: 'waiting_for_checks', seconds: times.checks },
  budget: { kind: 'paused', reason: 'budget', message: 'x' },
  released: { kind: 'paused', reason: 'user_request', message: 'x' },
  handed_over: { kind: 'shutdown' },
}

/** Fenced, or a refused request: nothing was written. */
const unlessRefused = (error: unknown) => {
  if (!(error instanceof FencedError || error instanceof ServiceError)) throw error
}

const of_worker = [0, 1].flatMap((worker): Op[] => {
  const write = (
    name: string,
    model: (row: Row, epoch: number, now: number) => Row | null,
    real: (writer: RunWriter, run: RunRow) => Promise<unknown>,
  ): Op => ({
    name: `${name}(${worker})`,
    model: ({ row, claims, now }) => model(row, claims[worker]?.epoch ?? -1, now),
    async real({ claims, id }) {
      const writer = claims[worker]
      const run = await getRun(db, member.organization_id, id)
      if (writer && run) await real(writer, run).catch(unlessRefused)
    },
  })
  return [
    {
      name: `claim(${worker})`,
      model: ({ row, now }) => claimed(row, `w${worker}`, now, times),
      async real(world) {
        const run = await claimRun(db, {
          owner: `w${worker}`,
          seconds: times.lease,
          turn_seconds: times.turn,
        })
        if (run) world.claims[worker] = new RunWriter(db, run)
      },
    },
    write(
      'heartbeat',
      (row, epoch, now) => heartbeatSent(row, epoch, now, times),
      writer => heartbeat(db, { ...writer, worked_ms: 1_000, progressed: true }, times.lease),
    ),
    write(
      'joined heartbeat',
      (row, epoch, now) => heartbeatSent(row, epoch, now, times),
      writer => heartbeats(db, [{ ...writer, worked_ms: 1_000, progressed: true }], times.lease),
    ),
    ...[true, false].map(in_hand =>
      write(
        in_hand ? 'stall' : 'work again',
        (row, epoch) => stalled(row, epoch, in_hand),
        writer => recordStall(db, [{ ...writer, in_hand }]),
      ),
    ),
    write('begin', turnBegun, writer => writer.change({ from: ['starting'], to: 'running', phase: 'agent' })),
    write('read messages', messagesRead, writer =>
      takeMessages(db, writer.organization_id, writer.run_id, writer.epoch),
    ),
    ...(Object.keys(ends) as RowEnd[]).map(end =>
      write(
        end,
        (row, epoch, now) => ended(row, epoch, end, now, times),
        (writer, run) => writeOutcome({ ...worker_deps, db }, writer, run, ends[end]),
      ),
    ),
  ]
})
const others: Op[] = [
  {
    name: 'stop',
    model: ({ row, now }) => stopRequested(row, now, times),
    real: ({ id }) => stopRun(person(), id),
  },
  {
    name: 'pause',
    model: ({ row, now }) => pauseRequested(row, now, times),
    real: ({ id }) => pauseRun(person(), id).catch(unlessRefused),
  },
  {
    name: 'resume',
    model: ({ row, now }) => resumed(row, now, times),
    real: ({ id }) => resumeRun(person(), { agent_run_id: id, prompt: 'go on' }).catch(unlessRefused),
  },
  {
    name: 'sweep',
    model: ({ row, now }) => swept(row, now, MAX_LOSSES, times),
    real: () => sweepRuns(sweep_deps()),
  },
  ...JUMPS.map(
    (seconds): Op => ({
      name: `wait ${seconds} s`,
      model(world) {
        world.now += seconds
        return world.row
      },
      real: ({ id }) =>
        db.query({
          text: `update runs
            set lease_until = lease_until - $2::interval, deadline_at = deadline_at - $2::interval,
              runnable_at = runnable_at - $2::interval, recovering_since = recovering_since - $2::interval
            where id = $1`,
          values: [id, `${seconds} seconds`],
        }),
    }),
  ),
]

async function rowOf({ id, now }: World): Promise<Row> {
  type StoredRow = Omit<Row, 'status' | 'status_reason'> & {
    status: RunStatus
    status_reason: StatusReason | null
  }
  const { rows } = await db.query<StoredRow>({
    text: `select status, status_reason, turn, epoch, owner, waiting_on is not distinct from 'ci' as of_checks,
          extract(epoch from lease_until - clock_timestamp())::float8 as lease_until,
          extract(epoch from deadline_at - clock_timestamp())::float8 as deadline_at,
          runnable_at is not null as claimable, pause_requested_at is not null as pausing,
          recovering_since is not null as recovering, losses, stalls, stalled_epoch is not distinct from epoch
        and lease_until is not null as stalled, pending_messages > 0 as has_unread_messages,
          resume_requested_at is not null as resume_requested
      from runs
      where id = $1`,
    values: [id],
  })
  const row = only(rows)
  const at = (seconds: number | null) => (seconds === null ? null : seconds + now)
  return { ...row, lease_until: at(row.lease_until), deadline_at: at(row.deadline_at) }
}

async function expectSame(world: World) {
  const { lease_until, deadline_at, ...stored } = await rowOf(world)
  const { lease_until: lease, deadline_at: deadline, ...expected } = world.row
  expect(stored).toEqual(expected)
  for (const [is, should] of [
    [lease_until, lease],
    [deadline_at, deadline],
  ] as const) {
    expect(is === null).toBe(should === null)
    if (is !== null && should !== null) expect(Math.abs(is - should)).toBeLessThan(NEAR_SECONDS)
  }
}

/** No worker claims it now. */
const putAway = ({ id }: World) =>
  db.query({
    text: `update runs
      set status = 'cancelled', status_reason = null, phase = null, waiting_on = null, owner = null,
        lease_until = null, runnable_at = null, recovering_since = null, recovery_cause = null
      where id = $1`,
    values: [id],
  })

for (const op of [...of_worker, ...others]) Object.assign(op, { [fc.toStringMethod]: () => op.name })
const any = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...of_worker) },
  { weight: 2, arbitrary: fc.constantFrom(...others) },
)

test(
  'in every order of operations, the row in the database follows the rules',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: 5, maxLength: 30, size: 'max' }), async ops => {
        const world = await newWorld()
        try {
          // Most sequences begin with a worker that has the run.
          for (const op of [
            ...of_worker.filter(({ name }) => name === 'claim(0)' || name === 'begin(0)'),
            ...ops,
          ]) {
            const next = op.model(world)
            await op.real(world)
            world.row = next ?? world.row
            await expectSame(world).catch(error => {
              throw new Error(`after ${op.name}: ${error instanceof Error ? error.message : error}`, {
                cause: error,
              })
            })
          }
        } finally {
          await putAway(world)
          for (const writer of world.claims) writer?.close()
        }
      }),
      { seed, numRuns: 40 * more },
    )
  },
  120_000 * more,
)
