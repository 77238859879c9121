#!/usr/bin/env node
import { agentrun } from './agentrun.ts'
import { InterruptedError } from './exit.ts'

/**
 * A terminal's Ctrl-C arrives several times when a launcher passes it on: repeats within two seconds are the
 * same one.
 */
const REPEAT_MS = 2_000

// `agentrun logs 1 | head`: the reader closes early, which is not an error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(0))

const stopped = new AbortController()
let first = 0
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (first === 0) first = performance.now()
    else if (performance.now() - first > REPEAT_MS) process.exit(new InterruptedError(signal).code)
    stopped.abort(new InterruptedError(signal))
  })

// The launcher has exited.
process.on('disconnect', () => stopped.abort(new InterruptedError('SIGHUP')))
process.channel?.unref()

const { stdin, stdout, stderr } = process
process.exitCode = await agentrun(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env: process.env,
  signal: stopped.signal,
})
// Standard input that was not read to its end would keep the process.
stdin.destroy()
