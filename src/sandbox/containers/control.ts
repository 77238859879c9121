import { chmodSync, closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPipes } from '../../system/programs/create-pipes.ts'
import { writePipeLine } from '../../system/write-pipe-line.ts'
import { readPipe } from '../commands/pipe-reader.ts'
import { splitLines } from '../commands/status-pipe.ts'
import { SandboxLostError } from '../port.ts'
import { pingEachSecond } from './pings.ts'

/** The host's ends of the connection to process 1 of a container. */
export type Control = {
  send(line: string): void
  listen(on_line: (line: string) => void): void
  /** Resolves when the port forwarder listens; rejects with SandboxLostError when it has ended before. */
  readonly ports: Promise<void>
  /** Process 1 ends with its requests. */
  close(): void
}

/**
 * Creates the pipes in the folder that is shown as /run/exec. They are unlinked when process 1 has sent its
 * first message, before anything else starts inside: nothing else can ever open them. `has_ports`: wait for
 * the ports. `environment` is sent through a pipe too: an engine would show it to anybody who may inspect its
 * containers, and a cluster would store it.
 */
export async function openControl(
  folder: string,
  has_ports: boolean,
  environment: Record<string, string>,
): Promise<Control> {
  const name = (end: string) => join(folder, `control.${end}`)
  const pipes = ['requests', 'answers', 'clock', ...(has_ports ? ['ports'] : [])].map(name)
  const names = [...pipes, name('environment')]
  await createPipes(pipes)
  writeEnvironment(name('environment'), environment)
  // Opened for reading too: the open does not block, and process 1 sees the end of its requests when this
  // process ends.
  let requests: number | null = openSync(name('requests'), constants.O_RDWR | constants.O_NONBLOCK)
  const send = (line: string) => {
    if (requests === null) return
    try {
      writePipeLine(requests, line)
    } catch (error) {
      // A full pipe: process 1 no longer reads, and the caller that waits for a response ends it.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
  // Process 1 exits after ten seconds without a message.
  const stopPings = pingEachSecond(openSync(name('requests'), constants.O_WRONLY | constants.O_NONBLOCK))
  // Lines may arrive before there is a listener.
  const early: string[] = []
  let on_line = (line: string): void => void early.push(line)
  let named = true
  const split = splitLines(line => on_line(line))
  const responses = readPipe(name('answers'), chunk => {
    if (named) for (const path of names) if (path !== name('ports')) rmSync(path, { force: true })
    named = false
    split(chunk)
  })
  const opened = Promise.withResolvers<void>()
  // Callers may await it later, or never.
  opened.promise.catch(() => {})
  const port_pipe = has_ports
    ? readPipe(name('ports'), chunk => onPortsLine(Buffer.from(chunk).toString()))
    : null
  const onPortsLine = (text: string) => {
    rmSync(name('ports'), { force: true })
    if (text.startsWith('open')) opened.resolve()
  }
  void port_pipe?.ended.then(() =>
    opened.reject(new SandboxLostError('the ports of the sandbox could not be opened')),
  )
  if (port_pipe === null) opened.resolve()
  return {
    send,
    listen(listener) {
      on_line = listener
      for (const line of early) listener(line)
    },
    ports: opened.promise,
    close() {
      stopPings()
      if (requests !== null) closeSync(requests)
      requests = null
      responses.close()
      port_pipe?.close()
    },
  }
}

function writeEnvironment(file: string, environment: Record<string, string>): void {
  const pairs = Object.entries(environment).map(pair => `${pair.join('=')}\0`)
  writeFileSync(file, pairs.join(''))
  chmodSync(file, 0o640)
}
