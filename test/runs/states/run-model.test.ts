import fc from 'fast-check'
import { expect, test } from 'vitest'
import { END_SECONDS } from '../../../src/core/runs/lease.ts'
import { isTerminal, mayMove } from '../../../src/core/runs/run-transitions.ts'
import {
  claimed,
  created,
  type End,
  ended,
  heartbeatSent,
  messagesRead,
  pauseRequested,
  type Row,
  resumed,
  stalled,
  stopRequested,
  swept,
  type Times,
  turnBegun,
} from './run-model.ts'

/**
 * Sequences of what workers, people and the sweep may do to a run, in any order and with jumps of the clock.
 */
const seed = Number(process.env.TEST_SEED ?? 1)
const numRuns = 500 * Number(process.env.TEST_MORE ?? 1)

const times: Times = { lease: 5, queue: 100, turn: 200, answer: 300, checks: 250, fence: 5, pause: 10 }
const MAX_LOSSES = 3

/** A worker remembers what it claimed, also when it was taken from it long ago. */
type World = { row: Row; now: number; epochs: (number | null)[]; stop_requested: boolean }
type Op = { name: string; play(world: World): Row | null }

const ends: End[] = ['completed', 'failed', 'waiting', 'checks', 'budget', 'released', 'handed_over']
const WORKERS = [0, 1, 2]
const of_worker = WORKERS.flatMap((worker): Op[] => {
  const write = (name: string, act: (row: Row, epoch: number, now: number) => Row | null): Op => ({
    name: `${name}(${worker})`,
    play: ({ row, epochs, now }) => {
      const epoch = epochs[worker]
      return epoch == null ? null : act(row, epoch, now)
    },
  })
  return [
    {
      name: `claim(${worker})`,
      play(world) {
        const row = claimed(world.row, `w${worker}`, world.now, times)
        if (row) world.epochs[worker] = row.epoch
        return row
      },
    },
    write('heartbeat', (row, epoch, now) => heartbeatSent(row, epoch, now, times)),
    write('stall', (row, epoch) => stalled(row, epoch, true)),
    write('work again', (row, epoch) => stalled(row, epoch, false)),
    write('begin', (row, epoch) => turnBegun(row, epoch)),
    write('read messages', (row, epoch) => messagesRead(row, epoch)),
    ...ends.map(end => write(end, (row, epoch, now) => ended(row, epoch, end, now, times))),
  ]
})
const stop: Op = {
  name: 'stop',
  play(world) {
    if (!isTerminal(world.row.status)) world.stop_requested = true
    return stopRequested(world.row, world.now, times)
  },
}
const sweep: Op = { name: 'sweep', play: ({ row, now }) => swept(row, now, MAX_LOSSES, times) }
const of_people: Op[] = [
  stop,
  { name: 'pause', play: ({ row, now }) => pauseRequested(row, now, times) },
  {
    name: 'resume',
    play(world) {
      const row = resumed(world.row, world.now, times)
      if (row) world.stop_requested = false
      return row
    },
  },
]
const of_service: Op[] = [
  sweep,
  ...[1, 4, 6, 40, 150].map(seconds => ({
    name: `wait ${seconds} s`,
    play(world: World) {
      world.now += seconds
      return world.row
    },
  })),
]

/** Invariants of every row, regardless of its last writer: the checks of the database, and more. */
function expectSound(
  { row, now, stop_requested }: World,
  max_lease = now + Math.max(times.lease, times.fence, times.pause),
) {
  const live = ['starting', 'running', 'cancelling'].includes(row.status)
  expect(row.lease_until !== null).toBe(live)
  expect(row.owner !== null).toBe(live)
  if (row.status === 'queued') expect(row.claimable).toBe(true)
  if (isTerminal(row.status) || row.status === 'paused' || live) expect(row.claimable).toBe(false)
  expect(row.deadline_at === null).toBe(isTerminal(row.status) || row.status === 'paused')
  if (row.stalled) expect(live).toBe(true)
  expect(row.stalls).toBeLessThanOrEqual(1)
  if (row.lease_until !== null) expect(row.lease_until).toBeLessThanOrEqual(max_lease)
  expect(row.status_reason !== null).toBe(row.status === 'failed' || row.status === 'paused')
  if (row.status === 'waiting' && row.has_unread_messages) expect(row.claimable).toBe(true)
  if (stop_requested) expect(['cancelling', 'cancelled']).toContain(row.status)
  // A resume of a run that was being stopped is never lost, and never applied after a later stop.
  if (row.resume_requested) expect([row.status, stop_requested]).toEqual(['cancelling', false])
}

function play(world: World, op: Op): void {
  const { row: before, now } = world
  const holder = world.epochs.map(
    epoch => epoch !== null && epoch === before.epoch && before.lease_until !== null,
  )
  const after = op.play(world)
  const worker = /\((\d)\)$/.exec(op.name)?.[1]
  // Only the owner writes, and a fenced worker changes nothing.
  if (worker !== undefined && !op.name.startsWith('claim') && !holder[Number(worker)])
    expect(after).toBeNull()
  if (after === null) return
  world.row = after
  if (after.status !== before.status) {
    const direct = mayMove({ from: before.status, to: after.status, by_resume: op.name === 'resume' })
    // A stop of a run without a worker, and a new turn for a late message, are two moves in one transaction.
    const twofold =
      (op.name === 'stop' && after.status === 'cancelled') ||
      (op.name.startsWith('completed') && after.status === 'queued') ||
      (before.status === 'cancelling' &&
        before.resume_requested &&
        after.status === 'queued' &&
        after.turn === before.turn + 1)
    expect(`${op.name}: ${before.status} → ${after.status}: ${direct || twofold}`).toMatch(/true$/)
  }
  expect(after.epoch).toBeGreaterThanOrEqual(before.epoch)
  expectSound(world, Math.max(now, world.now) + times.pause)
}

const shown = (op: Op): Op => Object.assign(op, { [fc.toStringMethod]: () => op.name })
for (const op of [...of_worker, ...of_people, ...of_service]) shown(op)
const any = fc.constantFrom(...of_worker, ...of_people, ...of_people, ...of_service, ...of_service)
// The wait for checks counts from the push, which the row does not know: a worker does not request it
// repeatedly.
const alone = fc.constantFrom(...of_worker.filter(({ name }) => !name.startsWith('checks')), ...of_service)
const newWorld = (): World => ({
  row: created(0, times),
  now: 0,
  epochs: WORKERS.map(() => null),
  stop_requested: false,
})

test('one owner writes, a fenced one writes nothing, a stop always ends as cancelled, and every row is consistent', () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 60, size: 'max' }), ops => {
      const world = newWorld()
      for (const op of ops) play(world, op)
    }),
    { seed, numRuns },
  )
})

test('in every state and with any worker behaviour, a run rests when deadline, lease and grace period are over: each wait begins at most once', () => {
  fc.assert(
    fc.property(
      fc.array(any, { maxLength: 40, size: 'max' }),
      fc.array(alone, { maxLength: 60, size: 'max' }),
      (ops, later) => {
        const world = newWorld()
        for (const op of ops) play(world, op)
        const rests = () => isTerminal(world.row.status) || world.row.status === 'paused'
        let rest = later
        // Queue, turn, checks or a question, and once more for a late message: each has a deadline, and none
        // can restart by itself.
        for (let wait = 0; wait < 8 && !rests(); wait++) {
          const ends_at: number = (world.row.deadline_at ?? 0) + END_SECONDS + times.lease
          const deadline = world.row.deadline_at
          // Workers do what they like until then; the sweep runs at least once a lease.
          do {
            const [op, ...more] = rest
            rest = more
            if (op && !op.name.startsWith('wait')) play(world, op)
            else world.now += times.lease
            play(world, sweep)
          } while (world.now <= ends_at && world.row.deadline_at === deadline && !rests())
          // By then it is in its next wait, or it rests.
          expect(rests() || world.row.deadline_at !== deadline).toBe(true)
        }
        expect(rests()).toBe(true)
      },
    ),
    { seed, numRuns },
  )
})

test('a stop ends a run whose worker is dead or frozen within the fence and one sweep, in every state', () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 40, size: 'max' }), ops => {
      const world = newWorld()
      for (const op of ops) play(world, op)
      fc.pre(!isTerminal(world.row.status))
      play(world, stop)
      const stopped_at = world.now
      if (world.row.status === 'cancelling' && world.row.lease_until !== null)
        world.now = world.row.lease_until + 1
      play(world, sweep)
      expect(world.row.status).toBe('cancelled')
      expect(world.now - stopped_at).toBeLessThanOrEqual(10)
    }),
    { seed, numRuns },
  )
})
