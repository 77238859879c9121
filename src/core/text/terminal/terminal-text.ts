import { yieldToOthers } from '../../yield-to-others.ts'
import { isBinary } from '../output-text.ts'
import {
  emptyScreen,
  eraseCells,
  eraseRows,
  lineFeed,
  moveTo,
  put,
  type Screen,
  screenText,
  shiftCells,
  shiftRows,
} from './terminal-screen.ts'
import { PLAIN, type Style, styleAfter, styleAfterCommand } from './terminal-style.ts'

/**
 * What does more than to write text and its colours. A line end of Windows does not, nor several carriage
 * returns before one.
 */
const REWRITES = /[\b\v\f]|\r(?![\r\n])|\x1b(?!\[[\d;:]*m)/
const COMMAND = /^\x1b\]([^\x07\x1b]*)/
/**
 * A control sequence, a string with its content, which ends at the latest with its line, or another escape
 * sequence.
 */
const SEQUENCE = /\x1b(?:\[([0-?]*)[ -/]*([@-~]?)|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*([0-~]?))/y
/** Work that a byte may cause on average. Above it the output is shown as it was written. */
const WORK_PER_BYTE = 16
/**
 * Bytes that a byte may become on average: the address of a hyperlink is written wherever its text is
 * interrupted.
 */
const BYTES_PER_BYTE = 4
/** Work between two turns of the event loop. */
const WORK_AT_ONCE = 100_000
const FAR = 1_000_000

/** `gap`: where the middle is missing. `is_rewritten`: the bytes differ from those of the output. */
type ShownBytes = { bytes: Uint8Array; gap: number | undefined; is_rewritten: boolean }

/**
 * Returns output as a terminal would show it at its end: without what was overwritten or erased, such as the
 * earlier states of a progress bar. Colours stay. Output without such sequences, and binary output, is
 * returned unchanged. `gap`: where its middle is missing; each of the two parts is shown by itself, because
 * nobody knows what happened between them.
 */
export async function terminalText(bytes: Uint8Array, gap?: number): Promise<ShownBytes> {
  const unchanged = { bytes, gap, is_rewritten: false }
  if (!REWRITES.test(latin1(bytes)) || isBinary(bytes)) return unchanged
  const head = await play(latin1(bytes.subarray(0, gap)))
  const tail = gap === undefined ? '' : await play(latin1(bytes.subarray(gap)))
  if (head === null || tail === null) return unchanged
  return {
    bytes: Buffer.from(head + tail, 'latin1'),
    gap: gap === undefined ? undefined : head.length,
    is_rewritten: true,
  }
}

/** One character per byte. */
const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')

/** The screen, and the one that a full-screen program shows instead until it ends. */
type Terminal = { main: Screen; other: Screen | null }

/** Returns what is shown after `text`, or null if it takes too much work or is far longer. */
async function play(text: string): Promise<string | null> {
  const terminal: Terminal = { main: emptyScreen(), other: null }
  let paused_at = 0
  for (let at = 0; at < text.length; ) {
    const screen = terminal.other ?? terminal.main
    if (screen.work > WORK_PER_BYTE * text.length) return null
    if (at + screen.work - paused_at > WORK_AT_ONCE) {
      await yieldToOthers()
      paused_at = at + screen.work
    }
    const code = text.charCodeAt(at)
    if (code === 0x1b) {
      SEQUENCE.lastIndex = at
      const [whole = '\x1b', parameters = '', final = '', other = ''] = SEQUENCE.exec(text) ?? []
      at += whole.length
      if (final !== '') control(terminal, parameters, final)
      else if (other !== '') escaped(terminal, other)
      else screen.style = shared(styleAfterCommand(screen.style, COMMAND.exec(whole)?.[1] ?? ''))
    } else {
      const length = code < 0x80 ? 1 : characterLength(text, at)
      if (code >= 0x20 || code === 0x09) put(screen, text.slice(at, at + length))
      else move(screen, code)
      at += length
    }
  }
  const main = screenText(terminal.main)
  const shown = terminal.other === null ? main : `${main}\n${screenText(terminal.other)}`
  return shown.length > BYTES_PER_BYTE * text.length ? null : shown
}

/** Bytes of the UTF-8 character at a position; 1 for a byte that is part of none. */
function characterLength(text: string, at: number): number {
  const code = text.charCodeAt(at)
  const length = code >= 0xf0 && code < 0xf5 ? 4 : code >= 0xe0 ? 3 : code >= 0xc2 ? 2 : 1
  for (let n = 1; n < length; n++) if ((text.charCodeAt(at + n) & 0xc0) !== 0x80) return 1
  return length
}

function move(screen: Screen, code: number): void {
  if (code === 0x0d) screen.column = 0
  else if (code === 0x08) screen.column = Math.max(0, screen.column - 1)
  else if (code === 0x0b || code === 0x0c) lineFeed(screen)
  else if (code === 0x0a) {
    lineFeed(screen)
    screen.column = 0
  }
}

function control(terminal: Terminal, parameters: string, final: string): void {
  const screen = terminal.other ?? terminal.main
  const { row, column } = screen
  if (/^[<-?]/.test(parameters)) return void switchScreens(terminal, parameters, final)
  const numbers = parameters.split(';').map(text => Math.min(Number.parseInt(text, 10) || 0, FAR))
  const [first = 0, second = 0] = numbers
  const count = Math.max(first, 1)
  const below = Math.min(row + count, screen.rows.length - 1)
  if (final === 'm') screen.style = shared(styleAfter(screen.style, parameters))
  else if (final === 'A') moveTo(screen, row - count, column)
  else if (final === 'B' || final === 'e') moveTo(screen, below, column)
  else if (final === 'C' || final === 'a') moveTo(screen, row, column + count)
  else if (final === 'D') moveTo(screen, row, column - count)
  else if (final === 'E') moveTo(screen, below, 0)
  else if (final === 'F') moveTo(screen, row - count, 0)
  else if (final === 'G' || final === '`') moveTo(screen, row, count - 1)
  else if (final === 'd') moveTo(screen, count - 1, column)
  else if (final === 'H' || final === 'f') moveTo(screen, count - 1, Math.max(second, 1) - 1)
  else if (final === 'X') eraseCells(screen, column, column + count)
  else if (final === '@') shiftCells(screen, count)
  else if (final === 'P') shiftCells(screen, -count)
  else if (final === 'L') shiftRows(screen, count)
  else if (final === 'M') shiftRows(screen, -count)
  else if (final === 's') screen.saved = { row, column }
  else if (final === 'u') moveTo(screen, screen.saved.row, screen.saved.column)
  else if (final === 'K') eraseLine(screen, first)
  else if (final === 'J') eraseScreen(screen, first)
}

function eraseLine(screen: Screen, how: number): void {
  if (how === 0) eraseCells(screen, screen.column, FAR)
  else if (how === 1) eraseCells(screen, 0, screen.column + 1)
  else if (how === 2) eraseCells(screen, 0, FAR)
}

/** What is above the screen stays, also where a terminal would erase its history. */
function eraseScreen(screen: Screen, how: number): void {
  if (how === 0) {
    eraseLine(screen, 0)
    eraseRows(screen, screen.row + 1, FAR)
  } else if (how === 1) {
    eraseLine(screen, 1)
    eraseRows(screen, 0, screen.row)
  } else if (how === 2) eraseRows(screen, 0, FAR)
}

function escaped(terminal: Terminal, kind: string): void {
  const screen = terminal.other ?? terminal.main
  const { row, column } = screen
  if (kind === '7') screen.saved = { row, column }
  else if (kind === '8') moveTo(screen, screen.saved.row, screen.saved.column)
  else if (kind === 'D') lineFeed(screen)
  else if (kind === 'M') moveTo(screen, row - 1, column)
  else if (kind === 'E') move(screen, 0x0a)
  else if (kind === 'c') {
    moveTo(screen, 0, 0)
    eraseRows(screen, 0, FAR)
    screen.style = PLAIN
  }
}

/** Editors and pagers switch to an empty screen, and back when they end. */
function switchScreens(terminal: Terminal, parameters: string, final: string): void {
  if (!/^\?(?:47|1047|1049)$/.test(parameters)) return
  if (final === 'h') terminal.other ??= emptyScreen()
  if (final !== 'l' || terminal.other === null) return
  terminal.main.work += terminal.other.work
  terminal.other = null
}

/** The same object for no style: cells are compared by it. */
const shared = (style: Style): Style => (style.size === 0 ? PLAIN : style)
