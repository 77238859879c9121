import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { duration, money } from '../../text/format.ts'
import { costCurve, svgPoints } from '../../trace/timeline/cost-curve.ts'
import { useTimeline } from '../trace/timeline/use-timeline.ts'

const [WIDTH, HEIGHT] = [400, 64]

/** The cost of a run over its active time, and of each turn. */
export function CostSection({ run }: { run: AgentRun }) {
  const timeline = useTimeline(run.id, run.total_logs)
  const points = timeline && costCurve(timeline)
  if (!timeline || !points) return null
  const [end] = points.slice(-1)
  const curve = svgPoints(points, WIDTH, HEIGHT)
  return (
    <section aria-label="Cost over time" className="border-line border-t p-4">
      <h3 className="text-muted text-xs">Cost over time</h3>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${money(String(end?.usd ?? 0))} in ${duration(end?.ms ?? 0)}`}
        className="mt-2 block h-16 w-full overflow-visible border-line border-b border-l"
      >
        <polygon points={`0,${HEIGHT} ${curve} ${WIDTH},${HEIGHT}`} className="fill-accent/12" />
        <polyline
          points={curve}
          fill="none"
          vectorEffect="non-scaling-stroke"
          className="stroke-[1.5] stroke-accent"
        />
      </svg>
      <div className="tabular flex justify-between text-2xs text-faint">
        <span>0</span>
        <span>
          {money(String(end?.usd ?? 0))} in {duration(end?.ms ?? 0)}
        </span>
      </div>
      {timeline.turns.length > 1 && (
        <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs">
          {timeline.turns.map(({ turn, cost_usd }) => (
            <div key={turn} className="contents">
              <dt className="text-faint">Turn {turn}</dt>
              <dd className="tabular text-muted">{money(cost_usd)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}
