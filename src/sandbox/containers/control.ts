import { execFile } from 'node:child_process'
import { chmodSync, closeSync, constants, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { childEnv } from '../../system/host-child-env.ts'
import { readPipe } from '../commands/pipe-reader.ts'
import { splitLines } from '../commands/status-pipe.ts'
import { SandboxLostError } from '../port.ts'

/** The host's ends of what process 1 of a container is talked to by. */
export type Control = {
  send(line: string): void
  listen(on_line: (line: string) => void): void
  /** Resolves when what joins the ports listens; rejects with SandboxLostError when it has ended before. */
  readonly ports: Promise<void>
  /** Process 1 ends with the requests. */
  close(): void
}

/** Process 1 ends itself when it has heard nothing for ten times as long. */
const here_ms = 1_000

/**
 * Makes the pipes in the folder that is shown as /run/exec. They have no name any more when process 1 has said its first word, before
 * anything else is started inside: nobody else can ever open them. `has_ports`: that they are to be waited for. `environment` goes the same
 * way: an engine would show it to whoever may ask about its containers, and a cluster would keep it.
 */
export async function openControl(folder: string, has_ports: boolean, environment: Record<string, string>): Promise<Control> {
  const name = (end: string) => join(folder, `control.${end}`)
  const pipes = ['requests', 'answers', 'clock', ...(has_ports ? ['ports'] : [])].map(name)
  const names = [...pipes, name('environment')]
  await promisify(execFile)('mkfifo', ['-m', '660', '--', ...pipes], { env: childEnv() })
  writeFileSync(
    name('environment'),
    Object.entries(environment)
      .map(pair => `${pair.join('=')}\0`)
      .join(''),
  )
  chmodSync(name('environment'), 0o640)
  // Open for reading too: opening does not wait, and for process 1 its requests end when we do.
  let requests: number | null = openSync(name('requests'), constants.O_RDWR | constants.O_NONBLOCK)
  const send = (line: string) => {
    if (requests === null) return
    try {
      writeSync(requests, `${line}\n`)
    } catch (error) {
      // A full pipe: process 1 hears nothing any more, and whoever waits for an answer ends it.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
  const here = setInterval(() => send('.'), here_ms)
  here.unref()
  // It may have spoken before anybody listens.
  const early: string[] = []
  let on_line = (line: string): void => void early.push(line)
  let named = true
  const split = splitLines(line => on_line(line))
  const answers = readPipe(name('answers'), chunk => {
    if (named) for (const path of names) if (path !== name('ports')) rmSync(path, { force: true })
    named = false
    split(chunk)
  })
  const opened = Promise.withResolvers<void>()
  // Who waits for them may come later, or not at all.
  opened.promise.catch(() => {})
  const port_pipe = has_ports ? readPipe(name('ports'), chunk => heardOfPorts(Buffer.from(chunk).toString())) : null
  const heardOfPorts = (text: string) => {
    rmSync(name('ports'), { force: true })
    if (text.startsWith('open')) opened.resolve()
  }
  void port_pipe?.ended.then(() => opened.reject(new SandboxLostError('the ports of the sandbox could not be opened')))
  if (port_pipe === null) opened.resolve()
  return {
    send,
    listen(listener) {
      on_line = listener
      for (const line of early) listener(line)
    },
    ports: opened.promise,
    close() {
      clearInterval(here)
      if (requests !== null) closeSync(requests)
      requests = null
      answers.close()
      port_pipe?.close()
    },
  }
}
