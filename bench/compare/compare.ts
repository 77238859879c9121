import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import type { FakeServer } from '../../test/model/fake-server.ts'
import { makeRepository } from '../make-repository.ts'
import { floor } from './floor.ts'
import { langgraph } from './langgraph.ts'
import { measurePeer, type PeerTimes } from './measure-peer.ts'
import { opencode } from './opencode.ts'
import type { Peer, RunningPeer } from './peer.ts'
import { pi } from './pi.ts'
import { respond } from './script.ts'
import { service } from './service.ts'

type Row = { name: string; version: string; times: PeerTimes }

/**
 * This service beside other agents from npm and beside a bare loop, one after another, each with the same
 * scripted model. `json_file`: where the results are also written, with the reasons why peers are missing.
 */
export async function compare(json_file: string | null): Promise<string> {
  const rows: Row[] = []
  const missing: { name: string; reason: string }[] = []
  for (const peer of [floor, service, pi, langgraph, opencode]) {
    try {
      rows.push(await measured(peer))
    } catch (error) {
      missing.push({ name: peer.name, reason: String(error).split('\n')[0] ?? '' })
    }
  }
  if (json_file) writeFileSync(json_file, `${JSON.stringify({ rows, missing }, null, 2)}\n`)
  const own = rows.find(row => row.name === service.name)
  return [
    'compare: the same scripted model for each, one after another; the first step of a run is not counted',
    `  ${'ms, unless stated otherwise'.padEnd(40)} first request    step     p95   64 kB  runs/min  CPU s/run`,
    ...rows.map(line),
    ...(own ? rows.filter(row => row !== own).map(row => ratios(own, row)) : []),
    ...missing.map(({ name, reason }) => `  ${name} is missing: ${reason}`),
    '',
  ].join('\n')
}

async function measured(peer: Peer): Promise<Row> {
  return withPeer(peer, async (running, model) => ({
    name: peer.name,
    version: running.version,
    times: await measurePeer(running, model),
  }))
}

/** Starts a peer beside a scripted model and a repository of its own, and ends it after `work`. */
export async function withPeer<T>(
  peer: Peer,
  work: (running: RunningPeer, model: FakeServer) => Promise<T>,
): Promise<T> {
  using repository = makeRepository()
  await using model = await startFakeOpenAI(respond)
  await using stack = new AsyncDisposableStack()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-peer-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const running = await peer.start(stack, { model_url: model.base_url, folder, repository: repository.path })
  return await work(running, model)
}

function line({ name, version, times }: Row): string {
  const start = times.start_ms > 0 ? `+${times.start_ms.toFixed(0)} ` : ''
  const cells = [
    `${start}${times.first_request_ms.toFixed(1)}`.padStart(13),
    times.step_ms.toFixed(2).padStart(7),
    times.step_p95_ms.toFixed(2).padStart(7),
    times.large_step_ms.toFixed(2).padStart(7),
    times.runs_per_minute.toFixed(0).padStart(9),
    times.processor_seconds_per_run.toFixed(3).padStart(10),
  ]
  return `  ${`${name} ${version}`.padEnd(40)} ${cells.join(' ')}`
}

function ratios(own: Row, { name, times }: Row): string {
  const of = (key: keyof PeerTimes) => (own.times[key] / times[key]).toFixed(2)
  return `  this service / ${name}: first request ${of('first_request_ms')}, step ${of('step_ms')}, 64 kB ${of('large_step_ms')}, runs/min ${of('runs_per_minute')}, CPU ${of('processor_seconds_per_run')}`
}
