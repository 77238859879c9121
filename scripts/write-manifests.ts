import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { renderChart } from './render-chart/render-chart.ts'

export const MANIFESTS_FOLDER = fileURLToPath(new URL('../deploy/kubernetes/', import.meta.url))

/** The manifests for `kubectl apply`: the chart with its own values. Needs Go and sprig of Debian. */
export function manifestFiles(): Map<string, string> {
  const files = Object.entries(renderChart({ namespace: { create: true } }))
  const texts = files.filter(([, text]) => parseAllDocuments(text).some(document => document.toJS() !== null))
  return new Map(
    texts.map(([name, text]) => [
      name,
      `# Rendered from deploy/chart by scripts/write-manifests.ts: change it there.\n${tidy(text)}`,
    ]),
  )
}

/** Without the blank lines that templates leave, and without separators between nothing. */
const tidy = (text: string) =>
  `${text
    .replace(/^\s*\n/gm, '')
    .replace(/^(?:---\n)+/, '')
    .trimEnd()}\n`

if (import.meta.main) {
  rmSync(MANIFESTS_FOLDER, { recursive: true, force: true })
  mkdirSync(MANIFESTS_FOLDER)
  for (const [name, text] of manifestFiles()) writeFileSync(join(MANIFESTS_FOLDER, name), text)
}
