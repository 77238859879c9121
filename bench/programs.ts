import { runProgram } from '../src/system/programs/run-program.ts'
import { type Program, type RunningProgram, startProgram } from '../src/system/programs/start-program.ts'

const ROUNDS = 60
const MEBIBYTES = [0, 300]
const command: Program = { program: '/bin/true', args: [], cwd: '/', env: {}, max_output_bytes: 1 }

/**
 * Compares a command that this process forks itself with one that its helper runs, in a small and in a large
 * process.
 */
export async function programs(): Promise<string> {
  const lines = [
    'programs: baseline is a fork by the process itself; medians of the time that the event loop is blocked, and of the whole',
  ]
  const memory: Buffer[] = []
  await runProgram(command).done
  for (const mebibytes of MEBIBYTES) {
    while (memory.length < mebibytes) memory.push(Buffer.alloc(1024 ** 2, 1))
    const [direct, helper] = [await timesOf(startProgram), await timesOf(runProgram)]
    const ratio = direct.blocked / helper.blocked
    lines.push(
      `  with ${mebibytes} MiB in use: direct ${text(direct)}, by the helper ${text(helper)}; blocked ${ratio.toFixed(0)} times as long`,
    )
  }
  return lines.join('\n')
}

type Times = { blocked: number; whole: number }

async function timesOf(start: (command: Program) => RunningProgram): Promise<Times> {
  const all: Times[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const started_at = performance.now()
    const { done } = start(command)
    const blocked = performance.now() - started_at
    await done
    all.push({ blocked, whole: performance.now() - started_at })
  }
  const median = (key: keyof Times) => all.map(times => times[key]).sort((a, b) => a - b)[ROUNDS / 2] ?? 0
  return { blocked: median('blocked'), whole: median('whole') }
}

const text = ({ blocked, whole }: Times) => `${blocked.toFixed(2)} and ${whole.toFixed(1)} ms`
