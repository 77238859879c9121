import { InterruptedError } from './exit.ts'

/**
 * Reads a line from a terminal without showing it. `prompt` runs once echo is off. Rejects on Ctrl-C and
 * Ctrl-D.
 */
export function askSecret(
  stdin: NodeJS.ReadStream,
  signal: AbortSignal,
  prompt: () => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (settle: () => void) => {
      stdin.off('data', take)
      signal.removeEventListener('abort', aborted)
      stdin.setRawMode(false)
      stdin.pause()
      settle()
    }
    const aborted = () => end(() => reject(signal.reason))
    const take = (piece: string) => {
      for (const char of piece) {
        if (char === '\r' || char === '\n') return end(() => resolve(typed))
        if (char === '\u0003' || char === '\u0004') return end(() => reject(new InterruptedError('SIGINT')))
        typed = char === '\u007f' || char === '\b' ? typed.slice(0, -1) : typed + char
      }
    }
    stdin.setRawMode(true)
    prompt()
    stdin.setEncoding('utf8').on('data', take)
    signal.addEventListener('abort', aborted)
    stdin.resume()
  })
}
