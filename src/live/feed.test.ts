import { expect, test, vi } from 'vitest'
import { Feed, type Frame } from './feed.ts'

/** A source that grows, and a reader that remembers; `settled` waits until the reader has seen `seq`. */
function growing() {
  const frames: Frame[] = []
  let state: string | null = null
  return {
    frames,
    setState: (text: string | null) => (state = text),
    grow: (count: number) => {
      for (let i = 0; i < count; i++) frames.push({ seq: frames.length + 1, text: `f${frames.length + 1}` })
    },
    after: async (seq: number, limit: number) => frames.filter(frame => frame.seq > seq).slice(0, limit),
    state: async () => state,
    current: async () => null as string | null,
  }
}

function reader(cursor: number, wanted: number, max = Number.POSITIVE_INFINITY) {
  const seen: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    seen,
    done: promise,
    ended: false,
    end() {
      this.ended = true
    },
    cursor,
    full: false,
    write(text: string) {
      if (seen.length >= max) return false
      seen.push(text)
      if (seen.length >= wanted) resolve()
      return true
    },
  }
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `f${from + i}`)

test('readers that start at different positions get every frame once and in order', async () => {
  const source = growing()
  source.grow(1000)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const late = reader(990, 110)
  const early = reader(0, 1100)
  feed.add(late)
  await Promise.resolve()
  feed.add(early)
  source.grow(100)
  feed.wake()
  feed.wake()
  await Promise.all([late.done, early.done])
  expect(late.seen).toEqual(range(991, 1100))
  expect(early.seen).toEqual(range(1, 1100))
})

test('frames too large to be kept are read again for a reader that lacks them, and nothing is lost', async () => {
  const source = growing()
  const large = 'x'.repeat(900_000)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const early = reader(0, 40)
  feed.add(early)
  for (let i = 0; i < 40; i++) {
    source.frames.push({ seq: i + 1, text: `${i + 1}${large}` })
    feed.wake()
    await Promise.resolve()
  }
  await early.done
  const late = reader(20, 20)
  feed.add(late)
  await late.done
  expect(early.seen.map(text => Number.parseInt(text, 10))).toEqual(
    Array.from({ length: 40 }, (_, i) => i + 1),
  )
  expect(late.seen.map(text => Number.parseInt(text, 10))).toEqual(
    Array.from({ length: 20 }, (_, i) => i + 21),
  )
})

test('a cursor beyond the end waits for what comes after it', async () => {
  const source = growing()
  source.grow(5)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const ahead = reader(5, 1)
  const other = reader(0, 6)
  feed.add(other)
  feed.add(ahead)
  source.grow(1)
  feed.wake()
  await Promise.all([ahead.done, other.done])
  expect(ahead.seen).toEqual(['f6'])
})

test('a reader that cannot take more is dropped, the others continue', async () => {
  const source = growing()
  source.grow(10)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const slow = reader(0, 3, 3)
  const quick = reader(0, 10)
  feed.add(slow)
  feed.add(quick)
  await quick.done
  expect(slow.seen).toEqual(range(1, 3))
})

test('the state is sent at the start and when it has changed, not otherwise', async () => {
  const source = growing()
  source.setState('s1')
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const watcher = reader(0, 2)
  feed.add(watcher)
  source.grow(1)
  feed.wake()
  await watcher.done
  source.setState('s2')
  const second = reader(1, 1)
  feed.add(second)
  await second.done
  feed.wake()
  expect(watcher.seen.filter(text => text === 's1')).toHaveLength(1)
  expect(second.seen).toEqual(['s2'])
})

test('a reader that is full is sent no more, loses nothing, and delays no other reader', async () => {
  const source = growing()
  source.grow(1000)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const slow = { ...reader(0, 1000), full: true }
  const quick = reader(0, 1000)
  feed.add(slow)
  feed.add(quick)
  await quick.done
  expect(slow.seen).toEqual([])
  slow.full = false
  feed.wake()
  await slow.done
  expect(slow.seen).toEqual(range(1, 1000))
})

test('fault 39: nothing is read for a reader that is full', async () => {
  const source = growing()
  const read_after: number[] = []
  const after = (seq: number, limit: number) => {
    read_after.push(seq)
    return source.after(seq, limit)
  }
  const feed = new Feed({ ...source, after }, error => expect(error).toBeUndefined())
  const quick = reader(0, 1000)
  feed.add(quick)
  source.grow(1000)
  feed.wake()
  await quick.done
  read_after.length = 0
  for (let i = 0; i < 50; i++) feed.add({ ...reader(0, 1000), full: true })
  source.grow(1)
  const late = reader(1000, 1)
  feed.add(late)
  await late.done
  expect(read_after.filter(seq => seq < 1000)).toEqual([])
})

test('a reader that gets a state has got all earlier entries', async () => {
  const source = growing()
  const feed = new Feed(
    {
      ...source,
      state: async () => {
        if (source.frames.length === 0) source.grow(150)
        return 'ended'
      },
    },
    error => expect(error).toBeUndefined(),
  )
  const watcher = reader(0, 151)
  feed.add(watcher)
  await watcher.done
  expect(watcher.seen).toEqual([...range(1, 150), 'ended'])
})

test('the current state is sent to each reader once, when it has caught up', async () => {
  const source = growing()
  source.grow(2)
  const feed = new Feed({ ...source, current: async () => 'now' }, error => expect(error).toBeUndefined())
  const watcher = reader(0, 4)
  feed.add(watcher)
  source.setState('s1')
  feed.wake()
  await watcher.done
  expect(watcher.seen).toEqual(['f1', 'f2', 'now', 's1'])
})

test('what was broadcast before is requested for readers that have caught up, and given to each once', async () => {
  let requests = 0
  const requestBacklog = async () => {
    requests++
    feed.sendBacklog(`so far ${requests}`)
  }
  const feed: Feed = new Feed({ ...growing(), requestBacklog }, error => expect(error).toBeUndefined())
  const early = reader(0, 1)
  feed.add(early)
  await early.done
  feed.broadcast('a')
  const late = reader(0, 1)
  feed.add(late)
  await late.done
  feed.broadcast('b')
  expect(early.seen).toEqual(['so far 1', 'a', 'b'])
  expect(late.seen).toEqual(['so far 2', 'b'])
  expect(requests).toBe(2)
})

test('when there is nothing left to follow, readers get the end and are released, also later ones', async () => {
  const source = growing()
  source.grow(2)
  source.setState('s1')
  const feed = new Feed({ ...source, end_frame: 'gone' }, error => expect(error).toBeUndefined())
  const [early, late] = [reader(0, 3), reader(0, 1)]
  feed.add(early)
  await early.done
  source.setState(null)
  feed.wake()
  feed.add(late)
  await late.done
  expect(early.seen).toEqual(['f1', 'f2', 's1', 'gone'])
  expect(late.seen).toEqual(['gone'])
  expect([early.ended, late.ended, feed.empty]).toEqual([true, true, true])
})

test('an error of the source loses nothing: the next wake continues', async () => {
  const source = growing()
  source.grow(3)
  let broken = true
  const failures: unknown[] = []
  const feed = new Feed(
    {
      ...source,
      after: async (seq, limit) => (broken ? Promise.reject(new Error('down')) : source.after(seq, limit)),
    },
    error => {
      failures.push(error)
      broken = false
      queueMicrotask(() => feed.wake())
    },
  )
  const patient = reader(0, 3)
  feed.add(patient)
  await patient.done
  expect(failures).toHaveLength(1)
  expect(patient.seen).toEqual(range(1, 3))
})

/** A source that counts its reads and whose state knows how much there is. */
function counted() {
  const source = growing()
  source.setState('state')
  const after = vi.fn(source.after)
  const frameOf = ({ seq, body }: { seq: number; body: string }) => ({ seq, text: body })
  const counting = Object.defineProperty({ ...source, after, frameOf }, 'total', {
    get: () => source.frames.length,
  })
  const written = (count: number) => {
    source.grow(count)
    return source.frames.slice(-count).map(({ seq, text }) => ({ seq, body: text }))
  }
  return { source: counting, reads: after.mock.calls, written }
}

test('entries that this process has written are sent without a read, in order and once', async () => {
  const { source, reads, written } = counted()
  written(3)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const first = reader(0, 4)
  feed.add(first)
  await first.done
  const before = reads.length
  const second = reader(3, 6)
  feed.add(second)
  const [four, five] = [written(1), written(1)]
  for (const entries of [five, four, written(3)]) {
    feed.offer(entries)
    feed.wake()
  }
  await second.done
  expect(second.seen.filter(text => text !== 'state')).toEqual(range(4, 8))
  expect(first.seen.filter(text => text !== 'state')).toEqual(range(1, 8))
  expect(reads.slice(before)).toEqual([])
})

test('what is missing before or after offered entries is read', async () => {
  const { source, reads, written } = counted()
  written(2)
  const feed = new Feed(source, error => expect(error).toBeUndefined())
  const first = reader(0, 3)
  feed.add(first)
  await first.done
  const before = reads.length
  const only = reader(2, 5)
  feed.add(only)
  // The third and the sixth entry are of another process.
  written(1)
  feed.offer(written(2))
  written(1)
  feed.wake()
  await only.done
  expect(only.seen.filter(text => text !== 'state')).toEqual(range(3, 6))
  expect(reads.slice(before).map(([seq]) => seq)).toEqual([2])
})
