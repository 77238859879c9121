import { outgoingFetch } from '../../src/egress/fetch.ts'
import { createResolver } from '../../src/egress/resolve.ts'
import type { PlainFetch } from '../../src/forge/one-origin-fetch.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { gitIn } from '../runs/coding-app.ts'
import type { FakeState } from './fake-state.ts'

const outgoing = { resolve: createResolver(), allow_private: true, upstream: null }
const live = outgoingFetch(outgoing, { ms: 5_000, max_bytes: 8 * 1024 ** 2 })

export const repo = { owner: 'acme', name: 'app' }
export const since = new Date('2026-03-01T00:00:00Z')
export type Path = (string | number)[]
type KeptResponse = { status: number; headers: Record<string, string>; text: string }

/** Requests each address once, and repeats its response from then on, with one value of it replaced. */
export class ReplayedForge {
  readonly kept = new Map<string, KeptResponse>()
  damage: { at: string; path: Path; value: unknown } | null = null
  readonly fetch: PlainFetch = async (url, init = {}) => {
    const at = `${init.method ?? 'GET'} ${url}`
    const kept = this.kept.get(at) ?? (await this.#request(at, url, init))
    if (this.damage?.at !== at) return new Response(kept.text, kept)
    const data: unknown = JSON.parse(kept.text)
    return new Response(JSON.stringify(replaced(data, this.damage.path, this.damage.value)), kept)
  }

  async #request(at: string, url: string, init: Parameters<PlainFetch>[1]): Promise<KeptResponse> {
    const response = await live(url, init)
    const headers = Object.fromEntries(
      [...response.headers].filter(
        ([name]) => !/^(content-length|content-encoding|etag|transfer-)/.test(name),
      ),
    )
    const kept = { status: response.status, headers, text: await response.text() }
    this.kept.set(at, kept)
    return kept
  }
}

/** `undefined` removes the field. */
function replaced(data: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  const copy: Record<string | number, unknown> = Array.isArray(data)
    ? ([...data] as never)
    : { ...(data as object) }
  copy[key] = replaced(copy[key], rest, value)
  return copy
}

/** Something of every kind that is read. Returns the head of the pull request. */
export async function fill(folder: string, state: FakeState, forge: RemoteForge): Promise<string> {
  const main = gitIn(folder, 'rev-parse', 'main').trim()
  const sha = gitIn(
    folder,
    'commit-tree',
    gitIn(folder, 'rev-parse', 'main^{tree}').trim(),
    '-p',
    main,
    '-m',
    'one',
  ).trim()
  gitIn(folder, 'update-ref', 'refs/heads/one', sha)
  await forge.createPullRequest(repo, {
    title: 'One',
    body: 'words',
    head_branch: 'one',
    base_branch: 'main',
    draft: false,
  })
  const at = (minute: number) => new Date(since.getTime() + minute * 60_000).toISOString()
  state.issues.push({ number: 1, user: 'ada', title: 'Issue', body: '@agent please', created_at: at(1) })
  state.comments.push({ id: 1, number: 1, user: 'ada', body: '@agent and this', created_at: at(2) })
  state.comments.push({ id: 2, number: 100, user: 'ada', body: 'a remark', created_at: at(2) })
  state.labelings.push({ id: 3, number: 1, user: 'ada', label: 'agent', given: true, at: at(3) })
  state.checks.push({
    sha,
    name: 'unit',
    app: 'ci',
    status: 'completed',
    conclusion: 'failure',
    summary: '2 failed',
  })
  state.statuses.push({ sha, context: 'ci/deploy', state: 'error', description: 'no' })
  return sha
}
