import type { RunTimeline } from '../../../../src/contract/runs/timeline.ts'

/** A point of the cost over the active time of a run. */
type CostPoint = { ms: number; usd: number }

/**
 * The sum of the costs after each part. The time between turns does not count. Null when a price is unknown
 * or nothing was spent.
 */
export function costCurve({ parts }: Pick<RunTimeline, 'parts'>): CostPoint[] | null {
  const points: CostPoint[] = [{ ms: 0, usd: 0 }]
  let [ms, usd] = [0, 0]
  for (const { started_at, ended_at, cost_usd } of parts) {
    if (cost_usd === null) return null
    ms += Date.parse(ended_at) - Date.parse(started_at)
    usd += Number(cost_usd)
    points.push({ ms, usd })
  }
  return usd > 0 ? points : null
}

/** The points of a curve for a picture of this size, as SVG writes them; the largest cost at the top. */
export function svgPoints(points: readonly CostPoint[], width: number, height: number): string {
  const [time, cost] = [
    Math.max(1, points.at(-1)?.ms ?? 0),
    Math.max(Number.MIN_VALUE, points.at(-1)?.usd ?? 0),
  ]
  return points
    .map(
      ({ ms, usd }) => `${((ms / time) * width).toFixed(1)},${(height - (usd / cost) * height).toFixed(1)}`,
    )
    .join(' ')
}
