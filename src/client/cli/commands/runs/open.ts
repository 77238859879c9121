import { spawn } from 'node:child_process'
import { type CommandArguments, command, type Options, whole } from '../../command.ts'
import { plainText } from '../../plain-text.ts'

export const open = command({
  name: 'open',
  summary: "print the address of a run's page, and open it where there is a desktop",
  usage: ['ID'],
  words: [1, 1],
  options: {},
  async run(given) {
    const { words, json, print, client, signal } = given
    const run = await client().runs.get(whole('the id of a run', words[0] ?? ''), { signal })
    if (json) {
      print.json(run)
      return 0
    }
    print.line(plainText(run.web_url))
    const opener = openerOf(given)
    if (opener !== null && (await opens(opener, run.web_url))) print.note('opened in the browser')
    return 0
  },
})

/** Returns the desktop's program that opens an address; null without a desktop or a terminal. */
function openerOf({ env, print }: CommandArguments<Options>): string | null {
  if (print.width === null || env.SSH_CONNECTION) return null
  if (process.platform === 'darwin') return 'open'
  return process.platform === 'linux' && (env.DISPLAY || env.WAYLAND_DISPLAY) ? 'xdg-open' : null
}

/**
 * Opens web pages only, because the address comes from the service. Resolves to false when the desktop
 * refuses.
 */
function opens(opener: string, address: string): Promise<boolean> {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !['http:', 'https:'].includes(url.protocol)) return Promise.resolve(false)
  return new Promise(resolve => {
    const child = spawn(opener, [url.href], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
