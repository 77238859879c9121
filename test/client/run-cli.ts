import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { buildCommand } from '../../scripts/build-client.ts'
import { program_env } from '../system/program-env.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export type CliEnd = { code: number | null; out: string; err: string }
export type CliOptions = { env?: Record<string, string>; input?: string; program?: string[] }

let folder: ReturnType<typeof temporaryFolder> | undefined
let building: Promise<void> | undefined
// Files of tests share their process, and with it the build.
process.once('exit', () => folder?.[Symbol.dispose]())

/** The built command: it starts in a sixth of the time that its source takes. */
async function built(): Promise<string[]> {
  folder ??= temporaryFolder()
  building ??= buildCommand(folder.path)
  await building
  writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}')
  return [process.execPath, join(folder.path, 'cli.js')]
}

/**
 * Starts the command line as its own process, with nothing of this one's environment but what a shell always
 * has.
 */
export async function startCli(
  args: string[],
  { env = {}, program }: CliOptions = {},
): Promise<ChildProcessWithoutNullStreams> {
  const [command = '', ...before] = program ?? (await built())
  const child = spawn(command, [...before, ...args], {
    env: { ...program_env, HOME: '/nonexistent', ...env },
    stdio: 'pipe',
  })
  child.stdin.on('error', () => {})
  return child
}

/** Runs it to its end. */
export async function runCli(args: string[], options: CliOptions = {}): Promise<CliEnd> {
  const child = await startCli(args, options)
  child.stdin.end(options.input ?? '')
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

/**
 * Runs it on a terminal of 100 columns, by `script`; both of its outputs in one. `typed` is typed once
 * `prompt` is seen.
 */
export async function runOnTerminal(
  args: string[],
  options: CliOptions & { prompt?: string; typed?: string } = {},
): Promise<CliEnd> {
  const { program = await built(), prompt, typed = '' } = options
  const quoted = [...program, ...args].map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = await startCli(['-qec', `stty cols 100; ${quoted}`, '/dev/null'], {
    ...options,
    program: ['script'],
  })
  const ended = once(child, 'close')
  let out = ''
  for await (const piece of child.stdout.setEncoding('utf8')) {
    out += piece
    if (prompt === undefined || (out.includes(prompt) && !child.stdin.writableEnded)) child.stdin.end(typed)
  }
  const [code] = await ended
  return { code, out, err: '' }
}
