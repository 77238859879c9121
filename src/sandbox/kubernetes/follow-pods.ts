import { setTimeout as delay } from 'node:timers/promises'
import { deadline } from '../../core/deadline.ts'
import { ApiError, type KubernetesApi } from './api.ts'
import type { Pod } from './pod.ts'

/** Reports the states of pods, from one watch for all of them. */
export type PodFollower = {
  /**
   * `report` is called with each state that the API knows, and with null when the pod is gone. Call `created` when the API has confirmed
   * it.
   */
  follow(name: string, report: (pod: Pod | null) => void): { created(): void; leave(): void }
}

type Followed = { report(pod: Pod | null): void; created: boolean }
type PodList = { metadata: { resourceVersion: string }; items: Pod[] }

const CALL_MS = 30_000
const PAUSE_MS = 500

/** `path`: pods with a label selector. Polls while there is a follower, and keeps no process alive. */
export function followPods(api: KubernetesApi, path: string): PodFollower {
  const followed = new Map<string, Followed>()
  let running: AbortController | null = null

  const run = async (stop: AbortController) => {
    while (!stop.signal.aborted) {
      try {
        await listAndWatch(stop.signal)
      } catch (error) {
        // Expired (410): the list is requested again. Anything else: the API is unavailable, and the sandboxes run without it.
        if (!(error instanceof ApiError) || error.status !== 410) await pause(stop.signal)
      }
    }
  }
  const listAndWatch = async (signal: AbortSignal) => {
    const expected = new Set([...followed].flatMap(([name, { created }]) => (created ? [name] : [])))
    using limit = deadline(CALL_MS, signal)
    const list = await api.call<PodList>('GET', path, { signal: limit.signal })
    for (const pod of list.items) {
      expected.delete(pod.metadata.name)
      followed.get(pod.metadata.name)?.report(pod)
    }
    for (const name of expected) followed.get(name)?.report(null)
    let version = list.metadata.resourceVersion
    while (!signal.aborted) {
      for await (const { type, object } of api.watch<Pod & { metadata: { resourceVersion: string } }>(
        `${path}&resourceVersion=${version}`,
        signal,
      )) {
        version = object.metadata.resourceVersion
        if (type !== 'BOOKMARK') followed.get(object.metadata.name)?.report(type === 'DELETED' ? null : object)
      }
      await pause(signal)
    }
  }
  const pause = (signal: AbortSignal) => delay(PAUSE_MS, null, { signal, ref: false }).catch(() => {})
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
