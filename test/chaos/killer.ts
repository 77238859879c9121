import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster, ClusterNode } from '../runs/recovery/cluster.ts'
import type { Random } from './random.ts'

/** The faults of each process, for the analysis of a failure. */
export type Fault = {
  at_ms: number
  role: string
  fault: 'kill' | 'freeze' | 'terminate' | 'lose the machine'
}

/** A PostgreSQL that starts again by itself when it is killed. */
type KilledDatabase = { readonly pid: number }

const DATABASE_SHARE = 0.1

/**
 * Does something to a random process every now and then until `until`, and starts another instead: kill -9, a
 * graceful shutdown, a freeze for longer than a lease, or kill -9 together with the loss of all that the
 * process had on its disk; now and then kill -9 of the database itself. `after` is called after every fault.
 */
export async function killProcesses(
  cluster: Cluster,
  nodes: ClusterNode[],
  database: KilledDatabase,
  random: Random,
  plan: { for_ms: number; pause_ms: [number, number] },
  after: () => Promise<void>,
): Promise<Fault[]> {
  const faults: Fault[] = []
  const started = performance.now()
  const thawing: Promise<void>[] = []
  while (performance.now() - started < plan.for_ms) {
    await delay(random.between(...plan.pause_ms))
    if (random.chance(DATABASE_SHARE)) {
      faults.push({ at_ms: Math.round(performance.now() - started), role: 'database', fault: 'kill' })
      process.kill(database.pid, 'SIGKILL')
      await after()
      continue
    }
    const at = Math.floor(random.next() * nodes.length)
    const node = nodes[at]
    if (!node || node.child.exitCode !== null) continue
    const fault = pick(random, node)
    faults.push({ at_ms: Math.round(performance.now() - started), role: node.role, fault })
    if (fault === 'freeze') {
      node.child.kill('SIGSTOP')
      thawing.push(delay(random.between(3_000, 9_000)).then(() => void node.child.kill('SIGCONT')))
    } else {
      node.child.kill(fault === 'terminate' ? 'SIGTERM' : 'SIGKILL')
      await node.ended
      if (fault === 'lose the machine') rmSync(node.data_dir, { recursive: true, force: true })
      nodes[at] = await startAgain(cluster, node)
    }
    await after()
  }
  await Promise.all(thawing)
  return faults
}

/** Like a process supervisor: a start that failed because of the database is retried. */
async function startAgain(cluster: Cluster, { role, data_dir }: ClusterNode): Promise<ClusterNode> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await cluster.start(role, data_dir)
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

function pick(random: Random, { role }: ClusterNode): Fault['fault'] {
  const roll = random.next()
  if (roll < 0.6) return 'kill'
  if (roll < 0.75) return 'terminate'
  // A frozen API process holds its clients up and harms nothing else: the interesting freeze is a worker's.
  if (roll < 0.88) return role === 'work' ? 'freeze' : 'kill'
  return 'lose the machine'
}
