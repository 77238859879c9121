import { commandsOf, isPlainWord } from '../shell-lines.ts'
import { asText, asTexts, asValues, jsoncOf } from '../tree.ts'

type HintedCommand = { command: string; setup: boolean }

const setup = (script: string): HintedCommand[] =>
  commandsOf(script).map(command => ({ command, setup: true }))

export function cursorHints(text: string): HintedCommand[] {
  return setup(asText(jsoncOf(text)?.install) ?? '')
}

/**
 * Returns the commands of a development container. Each may be a shell command, a list of words, or an object
 * of either by name.
 */
export function devcontainerHints(text: string): HintedCommand[] {
  const settings = jsoncOf(text)
  const keys = ['onCreateCommand', 'updateContentCommand', 'postCreateCommand']
  const scripts = keys.flatMap(key => {
    const value = settings?.[key]
    return asValues(value) === null ? [value] : Object.values(asValues(value) ?? {})
  })
  return scripts.flatMap(value => {
    const words = asTexts(value)
    if (words.length > 0)
      return words.every(word => word.startsWith('-') || isPlainWord(word))
        ? [{ command: words.join(' '), setup: true }]
        : []
    return setup((asText(value) ?? '').replace(/\s&&\s/g, '\n'))
  })
}
