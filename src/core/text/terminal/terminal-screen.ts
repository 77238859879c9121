import { PLAIN, type Style, styleChange, withoutLink } from './terminal-style.ts'

/** Rows that a program can still reach by moving the cursor. What is above them is final. */
const ROWS = 100
/**
 * Characters after which a terminal continues a line in the next row. Wider than any, because programs
 * without one do not know its width.
 */
const COLUMNS = 1024

type Row = {
  cells: string[]
  styles: Style[]
  /** A character was replaced or erased: blanks at its end are left over. */
  rewritten: boolean
  /** The line continues in the next row. */
  continued: boolean
}

/** What a terminal shows, and where its cursor is. */
export type Screen = {
  /** Text above the rows. */
  above: string[]
  rows: Row[]
  row: number
  column: number
  style: Style
  saved: { row: number; column: number }
  /** Cells and rows that were changed: what the work so far has cost. */
  work: number
}

const emptyRow = (): Row => ({ cells: [], styles: [], rewritten: false, continued: false })

export const emptyScreen = (): Screen => ({
  above: [],
  rows: [emptyRow()],
  row: 0,
  column: 0,
  style: PLAIN,
  saved: { row: 0, column: 0 },
  work: 0,
})

const rowAt = (screen: Screen): Row => screen.rows[screen.row] ?? emptyRow()

/** Writes one character. */
export function put(screen: Screen, char: string): void {
  if (screen.column >= COLUMNS) {
    rowAt(screen).continued = true
    lineFeed(screen)
    screen.column = 0
  }
  const row = rowAt(screen)
  if (screen.column < row.cells.length) row.rewritten = true
  fill(screen, row, row.cells.length, screen.column)
  row.cells[screen.column] = char
  row.styles[screen.column] = screen.style
  screen.column++
  screen.work++
}

/**
 * Goes to the same column of the next row. A hyperlink ends with its line, so that its address is written
 * once.
 */
export function lineFeed(screen: Screen): void {
  screen.style = withoutLink(screen.style)
  screen.row++
  screen.work++
  if (screen.row < screen.rows.length) return
  screen.rows.push(emptyRow())
  if (screen.rows.length <= ROWS) return
  const [first] = screen.rows.splice(0, 1)
  if (first) screen.above.push(lineOf(first))
  screen.row--
}

/** Moves the cursor, at most to the edges; below the last row nothing exists yet. */
export function moveTo(screen: Screen, row: number, column: number): void {
  const target = Math.min(Math.max(row, 0), ROWS - 1)
  while (screen.rows.length <= target) {
    screen.rows.push(emptyRow())
    screen.work++
  }
  screen.row = target
  screen.column = Math.min(Math.max(column, 0), COLUMNS - 1)
}

/** Erases cells of the current row: from a column, up to another one. */
export function eraseCells(screen: Screen, from: number, to: number): void {
  const row = rowAt(screen)
  if (from >= row.cells.length) return
  if (to >= row.cells.length) {
    screen.work++
    // A row of which nothing is left is as good as new.
    row.rewritten = from > 0
    row.cells.length = from
    row.styles.length = from
    row.continued = false
  } else {
    row.rewritten = true
    fill(screen, row, from, to)
  }
}

/** Erases whole rows: from one, up to another one. */
export function eraseRows(screen: Screen, from: number, to: number): void {
  screen.work += Math.max(0, Math.min(to, screen.rows.length) - from)
  // Rows at the end that are empty take no line.
  if (to >= screen.rows.length) screen.rows.length = Math.max(from, screen.row + 1)
  for (let at = from; at < Math.min(to, screen.rows.length); at++) screen.rows[at] = emptyRow()
}

/**
 * Inserts blank cells before the cursor, or deletes cells from it on where `count` is negative; the rest of
 * the row moves.
 */
export function shiftCells(screen: Screen, count: number): void {
  const row = rowAt(screen)
  const { column } = screen
  if (column >= row.cells.length) return
  const blanks = Math.min(Math.max(count, 0), COLUMNS - column)
  row.cells.splice(column, Math.max(-count, 0), ...Array<string>(blanks).fill(' '))
  row.styles.splice(column, Math.max(-count, 0), ...Array<Style>(blanks).fill(PLAIN))
  row.cells.length = Math.min(row.cells.length, COLUMNS)
  row.styles.length = row.cells.length
  row.rewritten = true
  screen.work += row.cells.length - column + 1
}

/**
 * Inserts empty rows above the cursor, or deletes rows from it on where `count` is negative; the rows below
 * move.
 */
export function shiftRows(screen: Screen, count: number): void {
  const { rows, row } = screen
  const added = Math.min(Math.max(count, 0), ROWS - row)
  rows.splice(row, Math.max(-count, 0), ...Array.from({ length: added }, emptyRow))
  rows.length = Math.min(rows.length, ROWS)
  while (rows.length <= row) rows.push(emptyRow())
  screen.column = 0
  screen.work += rows.length - row + 1
}

function fill(screen: Screen, row: Row, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    row.cells[at] = ' '
    row.styles[at] = PLAIN
    screen.work++
  }
}

/**
 * Returns everything that it shows, with the sequences of colours. Empty rows below the cursor are not lines.
 */
export function screenText({ above, rows, row }: Screen): string {
  const last = Math.max(
    row,
    rows.findLastIndex(({ cells }) => cells.length > 0),
  )
  const lines = rows.slice(0, last + 1).map(lineOf)
  return `${above.join('')}${lines.join('')}`.slice(0, -1)
}

function lineOf({ cells, styles, rewritten, continued }: Row): string {
  let end = cells.length
  if (rewritten && !continued) while (end > 0 && cells[end - 1] === ' ' && styles[end - 1] === PLAIN) end--
  let text = ''
  let style = PLAIN
  for (let at = 0; at <= end; at++) {
    const next = (at < end ? styles[at] : undefined) ?? PLAIN
    if (next !== style) text += styleChange(style, next)
    style = next
    if (at < end) text += cells[at]
  }
  return `${text}${continued ? '' : '\n'}`
}
