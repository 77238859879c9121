import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { parse } from 'yaml'

type Values = { [name: string]: unknown }
const chart_folder = fileURLToPath(new URL('../../deploy/chart', import.meta.url))
const read = (name: string) => readFileSync(join(chart_folder, name), 'utf8')

export const chart: { version: string; appVersion: string } = parse(read('Chart.yaml'))
export const default_values: Values = parse(read('values.yaml'))

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Objects are merged, lists and texts replaced, as Helm merges the values of a user over those of a chart.
 */
export function merged(below: Values, above: Values): Values {
  const result = { ...below }
  for (const [name, value] of Object.entries(above)) {
    const own = result[name]
    result[name] = isObject(own) && isObject(value) ? merged(own, value) : value
  }
  return result
}

/** The faults of values by values.schema.json, which Helm checks before it renders. */
export function valueFaults(values: Values): string[] {
  const validate = new Ajv({ allErrors: true, strictTypes: false }).compile(
    JSON.parse(read('values.schema.json')),
  )
  validate(merged(default_values, values))
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`)
}

/** The rendered files of the chart. Throws with the message of a template that fails. */
export function renderChart(values: Values): Record<string, string> {
  const faults = valueFaults(values)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const input = {
    folder: chart_folder,
    // Fields of a chart begin with capitals there.
    chart: { Name: 'agentrun', Version: chart.version, AppVersion: chart.appVersion },
    values: merged(default_values, values),
    release: { Name: 'agentrun', Namespace: 'agentrun', Service: 'Helm' },
  }
  const output = execFileSync('go', ['run', join(import.meta.dirname, 'main.go')], {
    encoding: 'utf8',
    input: JSON.stringify(input),
    // Only what Debian's packages have.
    env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return JSON.parse(output)
}
