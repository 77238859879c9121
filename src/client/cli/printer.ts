import { styleText } from 'node:util'
import { plainJson, plainText } from './plain-text.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export type Stream = { write(text: string): unknown; isTTY?: boolean; columns?: number }

/** The output of a command. Results go to standard output, everything else to standard error. */
export type Printer = {
  /** A line of the result. Its text must be plain or styled already. */
  line(text?: string): void
  /**
   * A document of the API: indented and without characters that control a terminal on one, otherwise on one
   * line.
   */
  json(value: unknown): void
  /** A note: what happens, what to do next. */
  note(text: string): void
  /** Progress, on a terminal only: each text replaces the previous one, null removes it. */
  progress(text: string | null): void
  /** Colour for the result, if it goes to a terminal and NO_COLOR is not set. */
  style(style: Style, text: string): string
  /** The width of the terminal that the result goes to; null otherwise. */
  width: number | null
}

/**
 * Returns what writes to the terminal. Colour and progress go to terminals only, and nowhere with NO_COLOR.
 */
export function createPrinter(
  stdout: Stream,
  stderr: Stream,
  env: Record<string, string | undefined>,
): Printer {
  const plain = Boolean(env.NO_COLOR) || env.TERM === 'dumb'
  const colour = Boolean(stdout.isTTY) && !plain
  const lively = Boolean(stderr.isTTY) && !plain
  let shown = false
  const erase = () => {
    if (shown) stderr.write('\r\u001b[K')
    shown = false
  }
  return {
    line(text = '') {
      erase()
      stdout.write(`${text}\n`)
    },
    json(value) {
      erase()
      stdout.write(
        stdout.isTTY ? `${plainJson(JSON.stringify(value, null, 2))}\n` : `${JSON.stringify(value)}\n`,
      )
    },
    note(text) {
      erase()
      stderr.write(`${plainText(text)}\n`)
    },
    progress(text) {
      if (!lively) return
      erase()
      if (text === null) return
      stderr.write(
        plainText(text)
          .replaceAll('\n', ' ')
          .slice(0, (stderr.columns || 80) - 1),
      )
      shown = true
    },
    style: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
    width: stdout.isTTY ? stdout.columns || 80 : null,
  }
}

/**
 * Returns rows as columns of equal width, the last one open. Cells are measured before `paint` colours them.
 */
export function columns(
  rows: string[][],
  paint: (text: string, row: number, column: number) => string = text => text,
): string[] {
  const widths = rows.reduce<number[]>(
    (wide, row) => row.map((cell, n) => Math.max(wide[n] ?? 0, cell.length)),
    [],
  )
  return rows.map((row, n) =>
    row
      .map(
        (cell, m) =>
          paint(cell, n, m) + (m === row.length - 1 ? '' : ' '.repeat((widths[m] ?? 0) - cell.length)),
      )
      .join('  ')
      .trimEnd(),
  )
}
