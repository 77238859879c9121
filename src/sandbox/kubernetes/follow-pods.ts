import { z } from 'zod'
import { deadline } from '../../core/deadline.ts'
import { pause } from '../../core/pause.ts'
import { ApiError, type KubernetesApi } from './api.ts'
import { Pod } from './pod.ts'

/** Reports the states of pods, from one watch for all of them. */
export type PodFollower = {
  /**
   * `report` is called with each state that the API knows, and with null when the pod is gone. Call `created`
   * when the API has confirmed it.
   */
  follow(name: string, report: (pod: Pod | null) => void): { created(): void; leave(): void }
}

type FollowedPod = { report(pod: Pod | null): void; created: boolean }
const Versioned = z.object({ resourceVersion: z.string() })
const PodList = z.object({ metadata: Versioned, items: z.array(Pod) })
const VersionedPod = Pod.extend({ metadata: Pod.shape.metadata.extend(Versioned.shape) })

const CALL_MS = 30_000
const PAUSE_MS = 500

/**
 * Follows the states of pods. `path`: pods with a label selector. Polls while there is a follower, and keeps
 * no process alive.
 */
export function followPods(api: KubernetesApi, path: string): PodFollower {
  const followed = new Map<string, FollowedPod>()
  let running: AbortController | null = null

  const run = async (stop: AbortController) => {
    while (!stop.signal.aborted) {
      try {
        await listAndWatch(stop.signal)
      } catch (error) {
        // Expired (410): the list is requested again. Anything else: the API is unavailable, and the
        // sandboxes run without it.
        if (!(error instanceof ApiError) || error.status !== 410) await pauseUnlessStopped(stop.signal)
      }
    }
  }
  const listAndWatch = async (signal: AbortSignal) => {
    const expected = new Set([...followed].flatMap(([name, { created }]) => (created ? [name] : [])))
    using limit = deadline(CALL_MS, signal)
    const list = await api.call('GET', path, { schema: PodList, signal: limit.signal })
    for (const pod of list.items) {
      expected.delete(pod.metadata.name)
      followed.get(pod.metadata.name)?.report(pod)
    }
    for (const name of expected) followed.get(name)?.report(null)
    let version = list.metadata.resourceVersion
    while (!signal.aborted) {
      for await (const event of api.watch(`${path}&resourceVersion=${version}`, VersionedPod, signal)) {
        version = event.object.metadata.resourceVersion
        if (event.type === 'BOOKMARK') continue
        followed.get(event.object.metadata.name)?.report(event.type === 'DELETED' ? null : event.object)
      }
      await pauseUnlessStopped(signal)
    }
  }
  const pauseUnlessStopped = (signal: AbortSignal) => pause(PAUSE_MS, signal).catch(() => {})
  return {
    follow(name, report) {
      const entry = { report, created: false }
      followed.set(name, entry)
      if (running === null) {
        running = new AbortController()
        void run(running)
      }
      return {
        created() {
          entry.created = true
        },
        leave() {
          followed.delete(name)
          if (followed.size > 0) return
          running?.abort()
          running = null
        },
      }
    },
  }
}
