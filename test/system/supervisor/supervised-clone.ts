import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchService, root, smallClone, stampPackages } from '../small-clone.ts'

/** The program of the service itself. */
export const real_main = `await import(${JSON.stringify(join(root, 'src/main.ts'))})`

/**
 * The supervisor of a clone whose service is `main`, with both processes or with one role, and its output so
 * far. Disposing ends all.
 */
export function superviseClone(main: string, env: Record<string, string> = {}, roles: string[] = []) {
  const resources = new AsyncDisposableStack()
  const clone = resources.use(smallClone(''))
  mkdirSync(join(clone.path, 'src'))
  writeFileSync(join(clone.path, 'src/main.ts'), main)
  stampPackages(clone.path)
  const supervisor = launchService(clone.path, { ...env, COUNT_FILE: join(clone.path, 'count') }, roles)
  const closed = once(supervisor, 'close') as Promise<[number | null, string | null]>
  resources.defer(async () => {
    supervisor.kill('SIGTERM')
    await closed
  })
  let text = ''
  const seen = new Set<() => void>()
  for (const stream of [supervisor.stdout, supervisor.stderr])
    stream.setEncoding('utf8').on('data', piece => {
      text += piece
      for (const poll of [...seen]) poll()
    })
  /** Resolves when the output has `pattern` for the nth time. */
  const output = (pattern: RegExp, count = 1) =>
    new Promise<string>(resolve => {
      const poll = () => {
        const found = [...text.matchAll(new RegExp(pattern, 'g'))][count - 1]
        if (found) resolve(found[1] ?? found[0])
        if (found) seen.delete(poll)
      }
      seen.add(poll)
      poll()
    })
  /** The process that serves: the supervisor starts it first. */
  const child = () =>
    Number(readFileSync(`/proc/${supervisor.pid}/task/${supervisor.pid}/children`, 'utf8').split(' ')[0])
  return { resources, supervisor, closed, output, child, text: () => text }
}
