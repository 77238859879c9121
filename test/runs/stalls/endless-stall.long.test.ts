import { expect, test } from 'vitest'
import { calls, shell } from '../coding-app.ts'
import { startCluster } from '../recovery/cluster.ts'

const occupying = new URL('./occupying-parse.ts', import.meta.url)

test('a process whose event loop never works again ends itself, without a supervisor, and names the run in its log', async () => {
  await using cluster = await startCluster(() => calls(shell('true # occupy 9999 seconds')))
  const worker = await cluster.start('work', undefined, { NODE_OPTIONS: `--import=${occupying}` })
  const { id } = await cluster.createRun({ prompt: 'x' })
  const { signal, output } = await worker.ended
  expect(signal).toBe('SIGKILL')
  const last = output.split('\n').find(line => line.includes('the event loop is stalled'))
  expect(JSON.parse(last ?? '{}')).toMatchObject({ level: 'error', run_ids: [id] })
  const run = await cluster.until(id, ({ status }) => status === 'queued')
  expect(run).toMatchObject({ status_reason: null, total_logs: expect.any(Number) })
  const [state] = await cluster.rows('select stalls, losses, recovery_cause from runs where id = $1', [id])
  expect(state).toEqual({ stalls: 1, losses: 1, recovery_cause: 'lease_lost' })
}, 180_000)
