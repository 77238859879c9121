import { createHash } from 'node:crypto'
import { z } from 'zod'
import { pause } from '../../core/pause.ts'
import { processIdentity } from '../../system/process-identity.ts'
import { ApiError, type KubernetesApi } from './api.ts'
import { Pod } from './pod.ts'

export const FOLDER_LABEL = 'agentrun-folder'
export const OWNER_LABEL = 'agentrun-owner'

const POLL_INTERVAL_MS = 200

/**
 * Returns the label of a process of this service on its pods: pids are reused, and start again in every
 * container.
 */
export function ownerMark(pid = process.pid): string {
  return `${pid}-${createHash('sha256')
    .update(processIdentity(pid) ?? 'gone')
    .digest('hex')
    .slice(0, 16)}`
}

/**
 * Removes the pods of a data folder whose process is gone. `pods`: the path of all pods. Throws ApiError, at
 * the latest when `signal` aborts.
 */
export async function removeLeftovers(
  api: KubernetesApi,
  pods: string,
  folder_id: string,
  signal: AbortSignal,
): Promise<void> {
  const selector = encodeURIComponent(`${FOLDER_LABEL}=${folder_id}`)
  const { items } = await api.call('GET', `${pods}?labelSelector=${selector}`, {
    schema: z.object({ items: z.array(Pod) }),
    signal,
  })
  const left = items.filter(({ metadata }) => {
    const mark = metadata.labels?.[OWNER_LABEL] ?? ''
    return ownerMark(Number.parseInt(mark, 10)) !== mark
  })
  await Promise.all(left.map(({ metadata }) => removePod(api, `${pods}/${metadata.name}`, metadata, signal)))
}

/**
 * Deletes the pod at `path`, unless its uid is no longer `uid`, and resolves when its node has reported that
 * nothing of it runs. Throws ApiError, at the latest when `signal` aborts.
 */
export async function removePod(
  api: KubernetesApi,
  path: string,
  { uid, known_to_node = true }: { uid: string; known_to_node?: boolean },
  signal: AbortSignal,
): Promise<void> {
  // With a grace of 0 the API forgets the pod immediately, regardless of its node; with any other it waits
  // for a node that may never respond.
  const body = { gracePeriodSeconds: known_to_node ? 1 : 0, preconditions: { uid } }
  for (let requested = false; ; requested = true) {
    try {
      if (!requested) await api.call('DELETE', path, { schema: z.unknown(), body, signal })
      const { metadata } = await api.call('GET', path, { schema: Pod, signal })
      if (metadata.uid !== uid) return
    } catch (error) {
      if (error instanceof ApiError && isGone(error)) return
      throw error
    }
    await pause(POLL_INTERVAL_MS, signal).catch(() => {
      throw new ApiError(0, '', `the pod ${path.split('/').at(-1)} does not end`)
    })
  }
}

const isGone = ({ status, reason }: ApiError) => status === 404 || (status === 409 && reason === 'Conflict')
