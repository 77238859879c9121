import { expect, test } from 'vitest'
import type { Snapshot } from '../../../src/git/workspace/checkpoint-commands.ts'
import { SandboxError, SandboxLostError } from '../../../src/sandbox/port.ts'
import { FilesState } from '../../../src/worker/workspace/files-state.ts'
import type { SnapshotSandbox } from '../../../src/worker/workspace/snapshot-sandbox.ts'
import { Snapshots } from '../../../src/worker/workspace/snapshots.ts'

const snapshotOf = (tree: string): Snapshot => ({ tree, head: null, branch: null, left_out: [], number: 1 })
const never = new AbortController().signal
const unknown = new FilesState(async () => null)
const quiet = { trouble: () => {}, difference: () => {} }

/** A sandbox whose snapshots end when the test ends them; `log` lists its requests. */
function scripted() {
  const log: string[] = []
  const waiting: { captured(): void; end(snapshot: Snapshot | null): void; fail(error: Error): void }[] = []
  let trees = 0
  const sandbox: SnapshotSandbox = {
    identity: null,
    async prepare(how) {
      log.push(`prepare ${how.from}`)
      return snapshotOf(`tree ${++trees}`)
    },
    take(before, { stale }, captured) {
      log.push(`take ${before.tree}${stale ? ' stale' : ''}`)
      const { promise, resolve, reject } =
        Promise.withResolvers<Awaited<ReturnType<SnapshotSandbox['take']>>>()
      waiting.push({
        captured,
        end: snapshot => resolve({ snapshot, differs: null, by_git: true }),
        fail: reject,
      })
      return promise
    },
    pack: () => Promise.reject(new Error('not asked')),
    async [Symbol.asyncDispose]() {
      log.push('dispose')
    },
  }
  return { sandbox, log, next: () => waiting.shift() }
}

test('the agent waits until its files are captured, not until their snapshot is named', async () => {
  const { sandbox, log, next } = scripted()
  const snapshots = new Snapshots(sandbox, () => Promise.resolve(sandbox), quiet, unknown)
  await snapshots.prepare({ from: 'empty' })
  const taken = snapshots.take()
  await expect.poll(() => log.at(-1)).toBe('take tree 1')
  let idle = false
  const waited = snapshots.idle(never).then(() => {
    idle = true
  })
  expect(idle).toBe(false)
  const work = next()
  work?.captured()
  await waited
  work?.end(snapshotOf('tree 2'))
  expect(await taken).toEqual(snapshotOf('tree 2'))
  expect(log).toEqual(['prepare empty', 'take tree 1'])
})

test('a snapshot that the agent did not wait for is discarded, and the next one contains all captured files', async () => {
  const { sandbox, log, next } = scripted()
  const snapshots = new Snapshots(sandbox, () => Promise.resolve(sandbox), quiet, unknown)
  await snapshots.prepare({ from: 'empty' })
  const late = snapshots.take()
  await expect.poll(() => log.at(-1)).toBe('take tree 1')
  await snapshots.idle(never, 1)
  next()?.end(snapshotOf('tree of two steps'))
  expect(await late).toBe(null)
  const after = snapshots.take()
  await expect.poll(() => log.at(-1)).toBe('take tree 1 stale')
  next()?.end(snapshotOf('tree 2'))
  expect(await after).toEqual(snapshotOf('tree 2'))
})

test('after a failed snapshot the agent does not wait for another for a while; the last snapshot is always taken', async () => {
  const { sandbox, log, next } = scripted()
  const troubles: unknown[] = []
  const snapshots = new Snapshots(
    sandbox,
    () => Promise.resolve(sandbox),
    { ...quiet, trouble: error => troubles.push(error) },
    unknown,
  )
  await snapshots.prepare({ from: 'empty' })
  const failed = snapshots.take()
  await expect.poll(() => log.at(-1)).toBe('take tree 1')
  next()?.fail(new SandboxError('killed'))
  expect(await failed).toBe(null)
  expect(await snapshots.take()).toBe(null)
  const last = snapshots.take(true)
  await expect.poll(() => log.at(-1)).toBe('take tree 1 stale')
  next()?.end(snapshotOf('tree 2'))
  expect(await last).toEqual(snapshotOf('tree 2'))
  expect(troubles).toHaveLength(1)
})

test('a first capture that failed is replaced, without trust in what the agent may have changed since', async () => {
  const { sandbox, log } = scripted()
  let broken = true
  const { prepare } = sandbox
  sandbox.prepare = (how, timeout_ms) => {
    if (!broken) return prepare(how, timeout_ms)
    broken = false
    return Promise.reject(new SandboxError('killed'))
  }
  const snapshots = new Snapshots(sandbox, () => Promise.resolve(sandbox), quiet, unknown)
  expect(await snapshots.prepare({ from: 'clone', sha: 'c', tree: 't' })).toBe(null)
  expect(await snapshots.take()).toBe(null)
  expect(await snapshots.take(true)).toEqual(snapshotOf('tree 1'))
  expect(log).toEqual(['prepare tree'])
})

test('a lost sandbox is replaced, and the snapshot is given up when the replacement is lost too', async () => {
  const { sandbox, log, next } = scripted()
  const snapshots = new Snapshots(sandbox, () => Promise.resolve(sandbox), quiet, unknown)
  await snapshots.prepare({ from: 'empty' })
  for (let lost = 0; lost < 6; lost++) {
    const taken = snapshots.take(true)
    if (log.at(-1) === 'dispose') await taken
    else {
      await expect.poll(() => log.at(-1)).toMatch('take')
      next()?.fail(new SandboxLostError('gone'))
      await taken
    }
  }
  expect(log.filter(word => word.startsWith('prepare')).length).toBeLessThan(5)
})
