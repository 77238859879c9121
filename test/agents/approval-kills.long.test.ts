// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { processesIn } from '../api/forges/git-processes.ts'
import { gitIn } from '../runs/coding-app.ts'
import { startKillable } from './killable-service.ts'
import { programSettings } from './program-app.ts'

const settled = { timeout: 60_000, interval: 100 }
const TIMEOUT_MS = 180_000
type Service = Awaited<ReturnType<typeof startKillable>>

/** A run whose agent requests a permission, and executes the call once it has it. */
function approvals(service: Service) {
  const run = (id: number) => service.call('GET', `/run/${id}`)
  return {
    run,
    async start(steps: string): Promise<number> {
      const { id } = await service.call('POST', '/run', { prompt: `do: ${steps}`, agent_type: 'program' })
      return id
    },
    /** Waits until a call is shown for approval that is not the one of an earlier entry, and returns it. */
    async waiting(id: number, after_seq = 0): Promise<any> {
      const found = async () => {
        const { status } = await run(id)
        const { logs } = await service.call('GET', `/run/${id}/logs`)
        const call = logs.findLast((entry: any) => entry.tool_output?.approval !== undefined)
        return status === 'waiting' && call?.seq > after_seq ? call : null
      }
      await expect.poll(found, settled).not.toBeNull()
      return found()
    },
    approve: (id: number) =>
      service.call('POST', '/run/resume', { agent_run_id: id, prompt: 'Yes.', approve: true }),
    async result(id: number): Promise<string | null> {
      await expect.poll(async () => (await run(id)).terminal, settled).toBe(true)
      return (await run(id)).result
    },
    async bash(id: number): Promise<any[]> {
      const { logs } = await service.call('GET', `/run/${id}/logs`)
      return logs
        .filter((entry: any) => entry.tool_name === 'bash')
        .map((entry: any) => entry.tool_output.status)
    },
    async executed(id: number): Promise<string> {
      const [pull] = (await run(id)).github_pull_requests
      return gitIn(service.repository, 'show', `${pull.head_branch_name}:executed.txt`)
    },
  }
}

test(
  'kill -9 while a call waits for approval: another process takes the approval and continues',
  async () => {
    await using service = await startKillable({ permissions: 'ask' })
    const { start, waiting, approve, result } = approvals(service)
    const id = await start('permission touch a | say Done.')
    await waiting(id)
    await service.killAndRestart()
    await approve(id)
    expect(await result(id)).toBe('[{"outcome":"selected","optionId":"once"}]Done.')
  },
  TIMEOUT_MS,
)

test.each(['the conversation as text', 'its session'])(
  'kill -9 after an approval was taken and before the agent has the permission: it waits again, and is executed once (%s)',
  async continued => {
    const variables: Record<string, string> = continued === 'its session' ? { SESSIONS: 'resume' } : {}
    await using service = await startKillable({
      ...programSettings({ ...variables, UNREAD: '2' }),
      permissions: 'ask',
    })
    const { start, waiting, approve, result, executed, bash } = approvals(service)
    const id = await start('permission touch a | tool echo x >>executed.txt | say Done.')
    const first = await waiting(id)
    await approve(id)
    // The second process of the agent requests it again, and does not read the response.
    const taken = "select 1 from runs where id = $1 and status = 'running' and approved_sha is null"
    await expect.poll(async () => (await service.rows(taken, [id])).length, settled).toBe(1)
    await service.killAndRestart()
    const second = await waiting(id, first.seq)
    expect(second.tool_output.approval).toBe(first.tool_output.approval)
    expect(await bash(id)).toEqual([])
    await approve(id)
    expect(await result(id)).toContain('Done.')
    expect(await bash(id)).toEqual(['ok'])
    expect(await executed(id)).toBe('x\n')
  },
  TIMEOUT_MS,
)

test(
  'kill -9 while the approved call runs: it is reported as interrupted, and the same call needs another approval',
  async () => {
    await using service = await startKillable({
      ...programSettings({ SESSIONS: 'resume' }),
      permissions: 'ask',
    })
    const { start, waiting, approve, result, executed, bash } = approvals(service)
    const id = await start(
      'permission touch a | tool echo x >>executed.txt; sleep 612 | permission touch a | say Done.',
    )
    const first = await waiting(id)
    await approve(id)
    const running = `select 1
        from journal
        where run_id = $1 and kind = 'tool_started' and body like '%sleep 612%'`
    await expect.poll(async () => (await service.rows(running, [id])).length, settled).toBe(1)
    // The agent reports the call before it starts the command.
    await expect
      .poll(() => processesIn('sleep 612').filter(command => command.startsWith('sleep')).length, settled)
      .toBe(1)
    await service.killAndRestart()
    const second = await waiting(id, first.seq)
    expect(second.tool_output.approval).toBe(first.tool_output.approval)
    expect(await bash(id)).toEqual(['interrupted'])
    await approve(id)
    expect(await result(id)).toContain('Done.')
    expect([await bash(id), await executed(id)]).toEqual([['interrupted'], 'x\n'])
  },
  TIMEOUT_MS,
)
