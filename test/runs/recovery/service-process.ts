import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { program_env } from '../../system/program-env.ts'

const own_program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))

export type ServiceProcess = {
  child: ChildProcess
  base_url: string
  output: string
  /** `output` was what it had written when it was ready; this is all of it until now. */
  outputSoFar(): string
  ended: Promise<{ code: number | null; signal: string | null; output: string }>
}

/** A model that plays a script has responses for its agent, and for reviewers where a test is about them. */
export const no_reviews = { AGENTRUN_MODEL_EVALUATIONS: '0' }

/**
 * Starts the service as its own process, as `npm start` does, and waits until it is ready or has ended.
 * `base_url` is "" where nothing is served. `log_file`: where its log goes instead of `output`. `program`:
 * `src/main.ts` of another version.
 */
export async function startServiceProcess(
  env: Record<string, string>,
  role: 'all' | 'serve' | 'work' | 'migrate' = 'all',
  log_file: string | null = null,
  program: string = own_program,
): Promise<ServiceProcess> {
  const log = log_file === null ? 'pipe' : openSync(log_file, 'a')
  const child = spawn(process.execPath, [program, role], {
    env: { ...program_env, ...no_reviews, AGENTRUN_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', log],
  })
  if (typeof log === 'number') closeSync(log)
  let output = ''
  const ready = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', text => {
      output += text
      const url = /ready: +(\S+)/.exec(output)?.[1]
      if (url && output.includes('Start a run')) ready.resolve(url)
      if (output.includes('Agent Run worker is ready')) ready.resolve('')
    })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }))
  const base_url = await Promise.race([ready.promise, ended.then(() => '')])
  return { child, base_url, output, outputSoFar: () => output, ended }
}
