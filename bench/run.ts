import { parseArgs } from 'node:util'
import { appendRate } from './append-rate.ts'
import { claims } from './claims.ts'
import { besideFloor } from './compare/beside-floor.ts'
import { compare } from './compare/compare.ts'
import { memory } from './cost/memory.ts'
import { runCost } from './cost/run-cost.ts'
import { warmStart } from './cost/warm-start.ts'
import { writeGrowth } from './cost/write-growth.ts'
import { writeSteps } from './cost/write-steps.ts'
import { environments } from './environments.ts'
import { firstRequest } from './first-request.ts'
import { gateway } from './gateway/gateway.ts'
import { heartbeats } from './heartbeats.ts'
import { logPage } from './log-page.ts'
import { manyNodes } from './many-nodes.ts'
import { page } from './page/page.ts'
import { programs } from './programs.ts'
import { queue } from './queue.ts'
import { recovery } from './recovery.ts'
import { metricTable, writeMetrics } from './report/metrics.ts'
import { sandbox } from './sandbox.ts'
import { crowd } from './scale/crowd.ts'
import { scale } from './scale/scale.ts'
import { search } from './search.ts'
import { sseReaders } from './sse-readers.ts'
import { stepOverhead, stepSizes } from './step-overhead.ts'

/**
 * `npm run bench` measures all, `npm run bench -- <name>` one, and `npm run bench -- compare` other agents
 * beside this one, `npm run bench -- scale` a database of a million runs. What they record as metrics is one
 * table at the end, and `--json FILE` writes it too. Noise of a machine must not fail a build.
 */
const benches: Record<string, () => Promise<string>> = {
  'first-request': firstRequest,
  'run-cost': runCost,
  memory,
  'warm-start': warmStart,
  'step-overhead': stepOverhead,
  'step-sizes': stepSizes,
  'write-steps': writeSteps,
  'write-growth': writeGrowth,
  'beside-floor': besideFloor,
  gateway,
  'log-page': logPage,
  page,
  search,
  programs,
  sandbox,
  environments,
  claims,
  queue,
  'append-rate': appendRate,
  heartbeats,
  'sse-readers': sseReaders,
  'many-nodes': manyNodes,
  crowd,
  recovery,
}

// Not one of all: it takes many minutes, and has options of its own.
if (process.argv[2] === 'scale') {
  process.stdout.write(await scale(process.argv.slice(3)))
  process.exit()
}
const { values, positionals: chosen } = parseArgs({
  options: { json: { type: 'string' } },
  allowPositionals: true,
})
// Not one of all: it installs programs of others.
if (chosen[0] === 'compare') {
  process.stdout.write(await compare(values.json ?? null))
  process.exit()
}
const unknown = chosen.find(name => !(name in benches))
if (unknown !== undefined) {
  process.stderr.write(
    `no bench ${unknown}; there are: ${[...Object.keys(benches), 'compare', 'scale'].join(', ')}\n`,
  )
  process.exit(2)
}
for (const [name, bench] of Object.entries(benches)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  process.stdout.write(`${await bench()}\n`)
}
process.stdout.write(metricTable())
if (values.json !== undefined) writeMetrics(values.json)
