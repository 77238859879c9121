import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import { familyMs } from '../processor.ts'
import { median } from '../rate.ts'
import { recordMetric } from '../report/metrics.ts'
import { startService } from '../start-service.ts'

const SIZES = (process.env.BENCH_FILES ?? '300,10000,100000').split(',').map(Number)
const STEPS = 40
/** Pairs of a run that writes and one that does not, after one of each. */
const PAIRS = 3
const FILES_IN_FOLDER = 100

/**
 * What a step costs that writes one file, beside one that writes nothing, in repositories of growing size:
 * runs of both take turns. The model responds at once.
 */
export async function writeGrowth(): Promise<string> {
  const lines: string[] = []
  for (const files of SIZES) lines.push(await measure(files))
  return [`write-growth: medians of ${PAIRS} runs of ${STEPS} steps of each kind`, ...lines, ''].join('\n')
}

async function measure(files: number): Promise<string> {
  using repository = makeFlatRepository(files)
  let writes = true
  let first = 0
  await using model = await startFakeOpenAI((_request, n) => {
    const command = writes ? `echo ${n} >src/part-${n % 3}/file-${n % 7}.ts` : `true # ${n}`
    return n - first <= STEPS
      ? { tool_calls: [{ name: 'shell', arguments: { command } }], split: 1_000 }
      : { text: 'Done.' }
  })
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_MODEL_EVALUATIONS: '0',
  })
  const ms = { writing: [] as number[], plain: [] as number[] }
  const cpu = { writing: 0, plain: 0 }
  const load = loadavg()[0] ?? Number.NaN
  for (let n = -2; n < 2 * PAIRS; n++) {
    writes = n % 2 === 0
    const kind = writes ? 'writing' : 'plain'
    first = model.requests.length
    const cpu_before = familyMs(service.pid)
    const run = await service.call('POST', '/agent/run', { prompt: 'Take many small steps.' })
    await service.ended(Number(run.id))
    if (n >= 0) cpu[kind] += (familyMs(service.pid) - cpu_before) / PAIRS
    // The first step waits for the clone.
    for (let step = 2; n >= 0 && step <= STEPS; step++) {
      const [before, after] = [model.requests[first + step - 1], model.requests[first + step]]
      ms[kind].push((after?.at ?? Number.NaN) - (before?.responded_at ?? Number.NaN))
    }
  }
  const [value, floor] = [median(ms.writing), median(ms.plain)]
  recordMetric({
    name: `step that writes a file of ${files}`,
    value,
    unit: 'ms',
    target: { at_most: 1.6 },
    of_floor: true,
    floor,
  })
  const step_cpu = (cpu.writing - cpu.plain) / STEPS
  return `  ${String(files).padStart(7)} files  ${value.toFixed(1)} ms, plain ${floor.toFixed(1)} ms: ${(value / floor).toFixed(2)} × (target ≤ 1.6 ×); ${step_cpu.toFixed(1)} ms more CPU of each step, with the end of the run; load ${load.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
}

/** A bare repository with that many small files in folders of a hundred, in one commit. */
function makeFlatRepository(files: number): { path: string } & Disposable {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-flat-')))
  chmodSync(folder, 0o755)
  const path = join(folder, 'flat.git')
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path], { env })
  const lines = [
    'commit refs/heads/main',
    'committer Ada <ada@example.org> 1700000000 +0000',
    'data 5',
    'Begin',
  ]
  for (let n = 0; n < files; n++) {
    const text = `export const value_${n} = ${n}\n`.repeat(10)
    lines.push(
      `M 100644 inline src/part-${Math.floor(n / FILES_IN_FOLDER)}/file-${n % FILES_IN_FOLDER}.ts`,
      `data ${text.length}`,
      text,
    )
  }
  execFileSync('git', ['fast-import', '--quiet'], {
    env: { ...env, GIT_DIR: path },
    input: `${lines.join('\n')}\ndone\n`,
  })
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
