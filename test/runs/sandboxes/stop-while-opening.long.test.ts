import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { calls, shell } from '../coding-app.ts'
import { type Cluster, startCluster } from '../recovery/cluster.ts'
import { sandboxProcesses } from './sandbox-processes.ts'

/** Many bytes to read in files that use no disk space: a first capture of them takes minutes. */
const FILL = 'for n in $(seq 200); do truncate -s 90M "big-$n"; done; echo filled; sleep 12345'
/** Less than the time after which a worker that does not release a stopped run is fenced. */
const release_ms = 4_000

const script: Parameters<typeof startCluster>[0] = ({ body }) =>
  JSON.stringify(body).includes('"role":"tool"') ? calls(shell('echo more')) : calls(shell(FILL))

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

const runs = (data_dir: string, command: RegExp) => () =>
  sandboxProcesses(data_dir).some(pid => command.test(commandLine(pid)))

/** A run whose worker died, and that another one opens: it captures all files before the agent continues. */
async function runThatIsOpened(cluster: Cluster) {
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'Fill the folder.' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  await expect.poll(runs(first.data_dir, /^sleep 12345/), { timeout: 20_000 }).toBe(true)
  first.child.kill('SIGKILL')
  await first.ended
  const second = await cluster.start('work', first.data_dir)
  await expect.poll(runs(second.data_dir, /^git (add|update-index)/), { timeout: 30_000 }).toBe(true)
  return { id, worker: second }
}

test('a stop ends a run immediately while its files are captured, and nothing is reported about unread files', async () => {
  await using cluster = await startCluster(script)
  const { id, worker } = await runThatIsOpened(cluster)
  await cluster.call('POST', '/run/stop', { agent_run_id: id })
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run.status).toBe('cancelled')
  expect(Date.parse(run.finished_at ?? '') - Date.parse(run.stop_requested_at ?? '')).toBeLessThan(release_ms)
  expect(sandboxProcesses(worker.data_dir)).toEqual([])
  const restore_entries = await cluster.rows(
    `select seq
      from log_entries
      where run_id = $1 and tool_name = 'workspace_restored'`,
    [id],
  )
  expect(restore_entries).toEqual([])
}, 120_000)
