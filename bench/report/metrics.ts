import { writeFileSync } from 'node:fs'

/**
 * What a bench has measured. `target`: the value that it should have at least or at most, as a ratio of the
 * floor where `of_floor`. `floor`: the same work without the service, in the unit and the run of the metric;
 * null: there is none.
 */
type Metric = {
  name: string
  value: number
  unit: string
  target: { at_least: number } | { at_most: number } | null
  of_floor?: true
  floor: number | null
}

const metrics: Metric[] = []

/**
 * Adds a metric to the table and the JSON at the end of `npm run bench`. A bench calls it once for each of
 * its metrics.
 */
export const recordMetric = (metric: Metric): void => void metrics.push(metric)

const isMet = ({ value, target, floor, of_floor }: Metric): boolean | null => {
  const compared = of_floor ? value / (floor ?? Number.NaN) : value
  if (target === null) return null
  return 'at_least' in target ? compared >= target.at_least : compared <= target.at_most
}

const shown = (value: number | null) =>
  value === null ? '–' : value >= 100 ? value.toFixed(0) : value.toFixed(2)

function targetText({ target, of_floor }: Metric): string {
  if (target === null) return '–'
  const text = 'at_least' in target ? `≥ ${target.at_least}` : `≤ ${target.at_most}`
  return of_floor ? `${text} × floor` : text
}

/** Returns all recorded metrics as one table; empty without any. */
export function metricTable(): string {
  if (metrics.length === 0) return ''
  const width = Math.max(...metrics.map(({ name }) => name.length))
  const lines = metrics.map(metric => {
    const { name, value, unit, floor } = metric
    const ratio = floor === null ? '' : `${(value / floor).toFixed(2)} ×`
    const verdict = { true: 'met', false: 'MISSED', null: '' }[`${isMet(metric)}`]
    const cells = [
      shown(value).padStart(9),
      unit.padEnd(10),
      shown(floor).padStart(9),
      ratio.padStart(9),
      targetText(metric).padEnd(16),
    ]
    return `  ${name.padEnd(width)} ${cells.join(' ')} ${verdict}`
  })
  const head = [
    'value'.padStart(9),
    'unit'.padEnd(10),
    'floor'.padStart(9),
    'of floor'.padStart(9),
    'target'.padEnd(16),
  ]
  return [`  ${'metric'.padEnd(width)} ${head.join(' ')}`, ...lines, ''].join('\n')
}

/** Writes all recorded metrics as a JSON list. */
export function writeMetrics(file: string): void {
  writeFileSync(
    file,
    `${JSON.stringify(
      metrics.map(metric => ({ ...metric, met: isMet(metric) })),
      null,
      2,
    )}\n`,
  )
}
