import { readFile } from 'node:fs/promises'
import type { GitRepository } from '../git-repository.ts'
import { mirrorState } from '../mirrors/mirror-refs.ts'
import type { GitHost } from '../process/git-host.ts'
import { type GitResult, tried } from '../publish/pull-request-git.ts'
import type { RefCommand } from '../publish/receive-commands.ts'
import { pushReport } from './push-report.ts'
import { type GitProtocol, offerFetch, readyMirror, serveFetch } from './serve-fetch.ts'
import { HEAD_BYTES, offerPush, receivePush } from './serve-push.ts'
import { createUploads, type Sender, type Upload } from './uploads.ts'

/** Returns the operations that git clients need: plain data in and out, no GitError. */
export function gitServer(host: GitHost) {
  const receive = createUploads(host)
  return {
    receive: (
      body: AsyncIterable<Buffer>,
      sender: Sender,
      max_bytes = host.max_push_bytes + HEAD_BYTES,
    ): Promise<GitResult<Upload>> => tried(() => receive(body, sender, max_bytes)),
    offerFetch: (repo: GitRepository, protocol: GitProtocol): Promise<GitResult<Buffer>> =>
      tried(async () => {
        await readyMirror(host, repo)
        return offerFetch(host, repo.id, protocol)
      }),
    fetch: (repo: GitRepository, request: Upload, options: { protocol: GitProtocol; signal: AbortSignal }) =>
      tried(async () => {
        await someMirror(host, repo)
        return serveFetch(host, repo.id, await readFile(request.path), options)
      }),
    offerPush: (repo: GitRepository): Promise<GitResult<Buffer>> => tried(() => offerPush(host, repo)),
    push: (
      repo: GitRepository,
      upload: Upload,
      signal: AbortSignal,
    ): Promise<GitResult<{ moved: RefCommand[]; report: (notes: string[]) => Buffer }>> =>
      tried(async () => {
        await someMirror(host, repo)
        const received = await receivePush(host, repo, upload, signal)
        const moved = received.commands.filter(({ ref }) => received.refused.get(ref) === null)
        return { moved, report: notes => pushReport(received, notes) }
      }),
  }
}

/** The previous request has created it, unless it went to another process or the mirror was removed since. */
async function someMirror(host: GitHost, repo: GitRepository): Promise<void> {
  if ((await mirrorState(host, repo.id)) === null) await readyMirror(host, repo)
}
