import { expect, test } from 'vitest'
import type { ToolExecution } from '../../../src/contract/runs/tool-execution.ts'
import { TOKEN } from '../../start-app.ts'
import { responses } from '../coding-app.ts'
import { startCluster } from './cluster.ts'

test('a tool call whose worker is killed is not repeated, and its result is reported as unknown', async () => {
  await using cluster = await startCluster(responses(), { AGENTRUN_TOOL_CALL_SECONDS: '120' })
  await cluster.start('work')
  const response = fetch(`${cluster.base_url}/v1/organizations/1/tools/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool_name: 'shell', arguments: { command: 'sleep 600' } }),
  })
  const calls = async () =>
    cluster.rows<{ id: number; owner: string }>("select id, owner from runs where source_type = 'TOOL'")
  await expect.poll(async () => (await calls()).length, { timeout: 20_000 }).toBe(1)
  const id = (await calls())[0]?.id ?? 0
  await cluster.until(id, run => run.waiting_on === 'tool')
  process.kill(Number((await calls())[0]?.owner.split('-')[0]), 'SIGKILL')
  await cluster.start('work')
  const body = (await (await response).json()) as ToolExecution
  expect(body).toMatchObject({ success: false, agent_run_id: id, result: { status: 'interrupted' } })
  expect(body.error).toContain('may or may not have completed')
  expect(
    await cluster.rows("select 1 from journal where run_id = $1 and kind = 'tool_started'", [id]),
  ).toHaveLength(1)
}, 120_000)
