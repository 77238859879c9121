import { recordMetric } from '../report/metrics.ts'
import { withPeer } from './compare.ts'
import { floor } from './floor.ts'
import { measurePeer } from './measure-peer.ts'
import { service } from './service.ts'

/**
 * Runs of 20 steps that change nothing: of this service beside a bare loop of model and shell, one after the
 * other.
 */
export async function besideFloor(): Promise<string> {
  const bare = await withPeer(floor, measurePeer)
  const own = await withPeer(service, measurePeer)
  const record = (
    name: string,
    key: keyof typeof own,
    unit: string,
    target: Parameters<typeof recordMetric>[0]['target'],
  ) => {
    recordMetric({ name, value: own[key], unit, target, floor: bare[key] })
    return `  ${name.padEnd(44)} ${own[key].toFixed(2).padStart(9)} ${unit}, bare loop ${bare[key].toFixed(2)}`
  }
  return [
    'beside-floor: runs of 20 steps, and a bare loop with a shell in bubblewrap that stores nothing',
    record('step, beside a bare loop', 'step_ms', 'ms', { at_most: 4 }),
    record('step of 64 kB, beside a bare loop', 'large_step_ms', 'ms', { at_most: 10 }),
    record('runs of 20 steps per minute, ten at once', 'runs_per_minute', 'runs/min', { at_least: 400 }),
    record('CPU of a run of 20 steps', 'processor_seconds_per_run', 's', { at_most: 0.2 }),
    record('CPU of the fixed part of such a run', 'fixed_processor_seconds', 's', { at_most: 0.12 }),
    '',
  ].join('\n')
}
