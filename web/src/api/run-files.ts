import { queryOptions } from '@tanstack/react-query'
import { call, core } from './client.ts'

/** Entries that one request returns. */
export const FILES_PAGE = 500

type Folder = { path: string; skip?: number; q?: string }

/** The files after an entry never change. */
const FIXED = Number.POSITIVE_INFINITY

/** A part of a folder of the files of a run after entry `seq`. */
export const runFolderQuery = (agent_run_id: number, seq: number, { path, skip = 0, q }: Folder) =>
  queryOptions({
    queryKey: ['run-files', agent_run_id, seq, path, skip, q],
    queryFn: ({ signal }) =>
      call('listAgentRunFiles', {
        params: { agent_run_id },
        query: { path, seq, skip, limit: FILES_PAGE, ...(q && { q }) },
        signal,
      }),
    staleTime: FIXED,
  })

/** The root folder after entry `seq`, or the newest one; `state`: what makes a newer one likely. */
export const runRootQuery = (agent_run_id: number, seq: number | undefined, state: string) =>
  queryOptions({
    queryKey: ['run-root', agent_run_id, seq, state],
    queryFn: ({ signal }) =>
      call('listAgentRunFiles', {
        params: { agent_run_id },
        query: { limit: FILES_PAGE, ...(seq !== undefined && { seq }) },
        signal,
      }),
    placeholderData: previous => previous,
    retry: false,
  })

/** A file of a run after entry `seq`. While it is loaded after another entry, it stays as it was. */
export const runFileQuery = (agent_run_id: number, seq: number, path: string) =>
  queryOptions({
    queryKey: ['run-file', agent_run_id, seq, path],
    queryFn: ({ signal }) =>
      call('getAgentRunFile', { params: { agent_run_id }, query: { path, seq }, signal }),
    placeholderData: previous => (previous?.path === path ? previous : undefined),
    staleTime: FIXED,
  })

/** The bytes of a file of a run. */
export async function runFileBlob(agent_run_id: number, seq: number, path: string): Promise<Blob> {
  const response = await core.request('downloadAgentRunFile', {
    params: { agent_run_id },
    query: { path, seq },
  })
  return response.blob()
}
