import { MAX_UNREDACTED_CHARS } from '../../core/text/truncate.ts'
import type { Pod } from './pod.ts'

/**
 * The state of a pod. `wait`: it may still run, or runs. `over`: nothing of it runs, or will; `why` is one
 * line.
 */
type PodState = { is: 'wait' | 'over'; why: string }

/** The kubelet keeps retrying after these; the start fails immediately instead. */
const HOPELESS = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'CreateContainerConfigError',
  'CreateContainerError',
  'CreatePodSandboxError',
  'RunContainerError',
])

/** Returns the state of a pod in the terms of the driver. `pod` null: it is gone from the API. */
export function podState(pod: Pod | null): PodState {
  if (pod === null) return { is: 'over', why: 'the pod is gone' }
  const { phase, reason, message, conditions = [], containerStatuses = [] } = pod.status ?? {}
  const { waiting, terminated } = containerStatuses[0]?.state ?? {}
  if (terminated) return { is: 'over', why: terminationOf(terminated) }
  // Ended by the node: evicted, rejected for lack of processors, past its deadline.
  if (phase === 'Failed' || phase === 'Succeeded')
    return { is: 'over', why: `the pod has ended: ${followed(reason ?? phase, message)}` }
  if (pod.metadata.deletionTimestamp !== undefined) return { is: 'over', why: 'the pod was deleted' }
  const refused = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  if (refused)
    return { is: 'over', why: `the pod cannot be scheduled: ${followed(refused.reason, refused.message)}` }
  if (waiting?.reason !== undefined && HOPELESS.has(waiting.reason))
    return { is: 'over', why: `the pod does not start: ${followed(waiting.reason, waiting.message)}` }
  return { is: 'wait', why: `the pod is ${waiting?.reason ?? phase ?? 'Pending'}` }
}

function terminationOf({
  reason,
  message,
  exitCode,
}: {
  reason?: string
  message?: string
  exitCode: number
}): string {
  if (reason === 'OOMKilled') return 'the pod was ended because its memory was used up (OOMKilled)'
  return `the pod has ended: ${followed(`${reason ?? 'ended'}, exit code ${exitCode}`, message)}`
}

/** On one line: the text comes from the cluster. */
const followed = (reason = '', message = '') =>
  [reason, message].filter(Boolean).join(': ').replace(/\s+/g, ' ').trim().slice(0, MAX_UNREDACTED_CHARS)
