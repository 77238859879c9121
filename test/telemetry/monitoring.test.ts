import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectDefaultMetrics } from '@prometheus-io/client'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createInstruments } from '../../src/telemetry/instruments.ts'
import { clone } from '../source-tree.ts'

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}
type Panel = {
  id: number
  title: string
  type: string
  targets?: { expr: string }[]
  gridPos: { x: number; y: number; w: number; h: number }
}

const read = (path: string) => readFileSync(join(clone, path), 'utf8')
const rules: Rule[] = parse(read('deploy/monitoring/alerts.yaml')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
)
const dashboard: { panels: Panel[] } = JSON.parse(read('deploy/monitoring/dashboard.json'))
const runbooks = read('docs/operations/runbooks.md')

/**
 * Type and labels of each metric as its table documents them, which test/drift.test.ts compares with the
 * instruments.
 */
const documented = new Map(
  [...read('docs/reference/metrics.md').matchAll(/^\| `(agentrun_\w+)` \| (\w+) \|([^|]*)\|/gm)].map(
    ([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/\w+/g)].map(([label]) => label) },
    ],
  ),
)
const expressions = [
  ...rules.map(({ alert, expr }) => ({ owner: alert, expr })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ owner: title, expr })),
  ),
  // Queries of the runbooks.
  ...[...runbooks.matchAll(/`([^`\n]*agentrun_[^`\n]*)`/g)].map(([, expr = '']) => ({
    owner: 'runbooks',
    expr,
  })),
]

/** The metrics of an expression, with the labels that it selects by. */
const metricsOf = (expr: string) =>
  [...expr.matchAll(/\b((?:agentrun|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      labels: [...selector.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
    }),
  )

test('every metric of an alert, a panel and a runbook exists, with the labels that it is selected by', async () => {
  const { registry } = createInstruments()
  collectDefaultMetrics({ register: registry })
  const exposed = new Set(
    [...(await registry.metrics()).matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name),
  )
  const unknown = expressions.flatMap(({ owner, expr }) =>
    metricsOf(expr).flatMap(({ name, labels }) => {
      const base = name.replace(/_(bucket|sum|count)$/, '')
      const metric = documented.get(name) ?? documented.get(base)
      if (!exposed.has(name) && !exposed.has(base)) return [`${owner}: ${name}`]
      if (name !== base && metric !== undefined && !exposed.has(name) && metric.type !== 'histogram')
        return [`${owner}: ${name} is not a histogram`]
      return labels
        .filter(label => !['instance', 'job', ...(metric?.labels ?? [])].includes(label))
        .map(label => `${owner}: ${name}{${label}}`)
    }),
  )
  expect(unknown).toEqual([])
  expect(expressions.length).toBeGreaterThan(35)
})

test('what an expression groups by is a label of its metrics', () => {
  const wrong = expressions.flatMap(({ owner, expr }) => {
    const labels = new Set([
      'instance',
      'le',
      ...metricsOf(expr).flatMap(
        ({ name }) => documented.get(name.replace(/_(bucket|sum|count)$/, ''))?.labels ?? [],
      ),
    ])
    return [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
      names.split(/,\s*/).flatMap(name => (labels.has(name) ? [] : [`${owner}: by ${name}`])),
    )
  })
  expect(wrong).toEqual([])
})

test('every alert has a severity, a summary and a runbook, and every runbook an alert', () => {
  const sections = [...runbooks.matchAll(/^## (\w+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(
    ([, name = '', text = '']) => ({ name, text }),
  )
  expect(sections.map(({ name }) => name)).toEqual(rules.map(({ alert }) => alert))
  for (const { alert, labels, annotations } of rules) {
    expect({
      alert,
      severity: ['warning', 'critical'].includes(labels.severity),
      runbook: annotations.runbook,
    }).toEqual({
      alert,
      severity: true,
      runbook: `docs/operations/runbooks.md#${alert.toLowerCase()}`,
    })
    expect(annotations.summary).not.toBe('')
  }
  for (const { name, text } of sections)
    expect({ name, steps: [...text.matchAll(/^\d\. /gm)].length > 1 }).toEqual({ name, steps: true })
})

test('no panel of the dashboard covers another one, and each shows something', () => {
  const panels = dashboard.panels
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  for (const { title, type, targets } of panels)
    expect({ title, shown: type === 'row' || (targets ?? []).length > 0 }).toEqual({ title, shown: true })
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(panels.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true)
})
