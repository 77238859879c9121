import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import type { SeenRequest } from '../../test/model/fake-server.ts'
import { makeRepository } from '../make-repository.ts'
import { familyOf, proportionalMiB, residentMiB } from '../processor.ts'
import { recordMetric } from '../report/metrics.ts'
import { startService, temporaryData } from '../start-service.ts'

const RUNS = 100
const STEPS = 20
const CONCURRENT = 10
/** Until connections that nobody uses have been closed and garbage is collected. */
const IDLE_MS = 20_000

/**
 * Memory of a service that was started before: of all its processes without runs, of each active run with its
 * sandbox, and what the worker keeps after 100 runs of 20 steps, ten at once. What processes share counts
 * once (PSS), except for the worker alone (RSS).
 */
export async function memory(): Promise<string> {
  using repository = makeRepository()
  let seconds = 20
  await using model = await startFakeOpenAI(request =>
    stepOf(request) < (seconds > 0 ? 1 : STEPS)
      ? {
          tool_calls: [
            {
              name: 'shell',
              arguments: { command: seconds > 0 ? `sleep ${seconds}` : `true # ${stepOf(request)}` },
            },
          ],
        }
      : { text: 'Done.' },
  )
  const env = {
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_WORKER_CONCURRENCY: String(CONCURRENT),
  }
  const data = temporaryData()
  await (await startService(env, { supervised: true, data }))[Symbol.asyncDispose]()
  await using service = await startService(env, { supervised: true, data })
  const runAll = async (count: number) => {
    const runs = await Promise.all(
      Array.from({ length: count }, () =>
        service.call('POST', '/agent/run', { prompt: 'Take small steps.' }),
      ),
    )
    return Promise.all(runs.map(run => service.ended(Number(run.id))))
  }
  await delay(IDLE_MS)
  const idle = byProgram(service.pid)
  const node = familyOf(service.pid).find(pid => programOf(pid) === 'worker') ?? 0
  const node_idle = residentMiB(node)

  seconds = 1
  await runAll(CONCURRENT)
  seconds = 15
  const before = sum(byProgram(service.pid))
  const sleeping = runAll(CONCURRENT)
  await delay(8_000)
  const each = (sum(byProgram(service.pid)) - before) / CONCURRENT
  await sleeping

  seconds = 0
  for (let n = 0; n < RUNS; n += CONCURRENT) await runAll(CONCURRENT)
  const node_busy = residentMiB(node)
  await delay(IDLE_MS)
  const node_after = residentMiB(node)
  const record = (name: string, value: number, at_most: number, floor: number | null) =>
    recordMetric({ name, value, unit: 'MiB', target: { at_most }, floor })
  record('memory without runs, all processes', sum(idle), 270, null)
  record('memory of each running run', each, 10, null)
  record(`memory of the worker after ${RUNS} runs`, node_after, 250, node_idle)
  const parts = [...idle].map(([program, mib]) => `${program} ${mib.toFixed(0)}`).join(', ')
  return [
    `memory, in MiB`,
    `  idle, all processes      ${sum(idle).toFixed(0).padStart(4)} (target ≤ 270): ${parts}`,
    `  each running run         ${each.toFixed(1).padStart(4)} (target ≤ 10)`,
    `  worker after ${RUNS} runs    ${node_after.toFixed(0).padStart(4)} (target ≤ 250); ${node_busy.toFixed(0)} at the end of the last one, ${node_idle.toFixed(0)} before the first`,
    '',
  ].join('\n')
}

/** Results of tools in a request: the steps that its run has taken. */
const stepOf = ({ body }: Pick<SeenRequest, 'body'>) =>
  ((body.messages ?? []) as { role: string }[]).filter(message => message.role === 'tool').length

function byProgram(pid: number): Map<string, number> {
  const found = new Map<string, number>()
  for (const of of familyOf(pid)) {
    const name = programOf(of)
    if (name !== null) found.set(name, (found.get(name) ?? 0) + proportionalMiB(of))
  }
  return found
}

/** `helper`: a process that runs programs; null: it has ended. */
function programOf(pid: number): string | null {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    if (words.includes('program-helper')) return 'helper'
    if (/main\.ts\0serve/.test(words)) return 'api'
    if (/main\.ts\0work/.test(words)) return 'worker'
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return null
  }
}

const sum = (parts: Map<string, number>) => [...parts.values()].reduce((total, mib) => total + mib, 0)
