// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { programEnv } from '../../../agents/program-app.ts'
import type { FakeScript } from '../../../model/fake-server.ts'
import { testFolder } from '../../../temporary-folder.ts'
import { calls, finish, gitIn, shell } from '../../coding-app.ts'
import { type Cluster, logsOf, startCluster } from '../cluster.ts'

/** The worker is killed once the trace has this many entries, and that long after. */
export type Kill = { entries: number; delay_ms: number }

/** A program that starts again repeats all steps: it leaves files alone that it has written. */
const commandOf = (step: number) => `test -s file-${step} || echo ${step} >file-${step}`
const stepOf = (entry: any): number => Number(/>file-(\d+)/.exec(JSON.stringify(entry.tool_input))?.[1])

/** The model of the built-in agent repeats what was interrupted. */
const scriptOf =
  (steps: number): FakeScript =>
  ({ body }) => {
    const results = (body.messages as { role: string; content: unknown }[]).filter(
      ({ role }) => role === 'tool',
    )
    const done = results.filter(
      ({ content }) => !JSON.stringify(content).includes('Interrupted: it may'),
    ).length
    return done < steps ? calls(shell(commandOf(done + 1))) : finish('Done.')
  }

/**
 * How many steps are complete in each tree that a workspace may have: after a step, and while the next one
 * has created its file but not written it.
 */
function completeSteps(repository: string, steps: number): Map<string, number> {
  const folder = testFolder()
  cpSync(repository, folder, { recursive: true })
  const tree = () => {
    gitIn(folder, 'add', '-A')
    return gitIn(folder, 'write-tree').trim()
  }
  const complete = new Map([[tree(), 0]])
  for (let step = 1; step <= steps; step++) {
    writeFileSync(join(folder, `file-${step}`), '')
    complete.set(tree(), step - 1)
    writeFileSync(join(folder, `file-${step}`), `${step}\n`)
    complete.set(tree(), step)
  }
  return complete
}

const isOk = ({ tool_name, tool_output }: any) =>
  ['shell', 'bash'].includes(tool_name) && tool_output.status === 'ok'

/**
 * Plays a run of steps that each write a file, on workers that share no disk, each of which is killed.
 * Expects that every restored workspace has the files of all actions that the trace shows as `ok`, and that
 * the pull request has all files.
 */
export async function playOnLostDisks(
  agent: 'built_in' | 'program',
  steps: number,
  kills: Kill[],
): Promise<void> {
  const program = agent === 'program'
  await using cluster = await startCluster(scriptOf(steps), {
    ...(program && programEnv()),
    AGENTRUN_RUN_MAX_RECOVERIES: '100',
  })
  const complete = completeSteps(cluster.repository, steps)
  const commands = Array.from({ length: steps }, (_, i) => `tool ${commandOf(i + 1)}`)
  const prompt = program ? `do: ${commands.join(' | ')} | say Done.` : 'Write the files.'
  let worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt, ...(program && { agent_type: 'program' }) })
  for (const { entries, delay_ms } of kills) {
    await cluster.until(id, run => run.total_logs >= entries || run.terminal)
    if (delay_ms > 0) await new Promise(resolve => setTimeout(resolve, delay_ms))
    worker.child.kill('SIGKILL')
    await worker.ended
    // The next one would take over a folder that it can reach.
    rmSync(worker.data_dir, { recursive: true, force: true })
    worker = await cluster.start('work')
  }
  const run = await cluster.until(id, ({ terminal }) => terminal, 120_000)
  expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
  expectNothingLost(await logsOf(cluster, id), complete)
  expect(complete.get(treeOfBranch(cluster, run.branch ?? ''))).toBe(steps)
}

const treeOfBranch = ({ repository }: Cluster, branch: string) =>
  gitIn(repository, 'rev-parse', `${branch}^{tree}`).trim()

function expectNothingLost(logs: any[], complete: Map<string, number>): void {
  const restored = logs.filter(({ tool_name }) => tool_name === 'workspace_restored')
  // A worker that was too slow for its lease continues in its own folder.
  expect(restored.map(({ tool_output }) => tool_output.how)).toContain('restored')
  for (const { seq, tool_output } of restored) {
    const ok = logs.filter(entry => entry.seq < seq && isOk(entry)).map(stepOf)
    const { how, lost_actions, tree } = tool_output
    if (ok.length > 0) expect(how).not.toBe('fresh')
    expect(lost_actions).toEqual([])
    // The last step may have run without an outcome.
    expect(complete.get(tree), JSON.stringify({ seq, ok, tree })).toBeGreaterThanOrEqual(Math.max(0, ...ok))
  }
}
