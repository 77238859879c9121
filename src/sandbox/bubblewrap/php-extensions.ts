import { globSync, readFileSync, realpathSync } from 'node:fs'

const SETTINGS = '/etc/php/*/cli/conf.d/*.ini'
/** That an extension is loaded, or a comment. */
const HARMLESS = /^\s*(?:(?:zend_)?extension\s*=\s*"?[\w./-]+"?\s*|opcache\.jit\s*=\s*\w+\s*)?(?:;.*)?$/
const MAX_BYTES = 4 * 1024

/**
 * Returns the settings by which the command-line PHP loads its installed extensions, which most programs
 * need. A file with any other setting is excluded: it may contain the key of a service.
 */
export function phpExtensions(pattern = SETTINGS): { host: string; inside: string }[] {
  return globSync(pattern).flatMap(inside => {
    try {
      const host = realpathSync(inside)
      const text = readFileSync(host, 'utf8')
      return text.length <= MAX_BYTES && text.split('\n').every(line => HARMLESS.test(line))
        ? [{ host, inside }]
        : []
    } catch {
      // What cannot be read here could not be read inside either.
      return []
    }
  })
}
