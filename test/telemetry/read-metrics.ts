import type { App } from '../start-app.ts'

export type Sample = { name: string; labels: Record<string, string>; value: number }

/** The address at which the service reported its metrics. */
export function metricsUrl(app: Pick<App, 'logs'>): string {
  return String(app.logs.find(line => line.message === 'metrics are served')?.fields?.url)
}

/** Every sample of the page, as Prometheus would read it. */
export async function readMetrics(url: string): Promise<Sample[]> {
  const response = await fetch(`${url}/metrics`)
  if (response.status !== 200) throw new Error(`the metrics answered ${response.status}`)
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return lines.map(line => {
    const [, name = '', labels = '', value = ''] = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
    if (name === '') throw new Error(`no sample: ${line}`)
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
      key,
      text,
    ])
    return { name, labels: Object.fromEntries(pairs), value: Number(value) }
  })
}

export const sampleOf = (
  samples: Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined =>
  samples.find(
    sample =>
      sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
  )?.value
