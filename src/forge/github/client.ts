import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { oneOriginFetch, type PlainFetch } from '../one-origin-fetch.ts'
import { ForgeError } from '../port.ts'
import { readResponse } from '../read-response.ts'
import { forgeErrorFrom } from './failure.ts'
import { RefusedReads } from './refused-reads.ts'
import { Account, App, Installation, InstallationToken } from './shapes.ts'
import { WrittenMarks } from './written-marks.ts'

/** A personal access token, or an app with one installation or as many as owners have created. */
export type GitHubCredentials =
  | { token: string }
  | { app_id: number; private_key: string; installation_id: number | null }
/** `identity`: the account of the credentials, where it is known. */
export type GitHubSettings = {
  origin: string
  credentials: GitHubCredentials
  fetch: PlainFetch
  user_agent: string
  identity?: Identity | null
}

/** How long a token for git is valid at least: a large push takes its time. */
const GIT_MS = 10 * 60_000
const API_VERSION = '2022-11-28'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Returns the address of the API: github.com has its API on a separate host, GitHub Enterprise Server below
 * `/api/v3`.
 */
export const apiUrl = (origin: string): string =>
  origin === 'https://github.com' ? 'https://api.github.com' : `${origin}/api/v3`

type Identity = { login: string; app: string | null }

/**
 * Requests to the API, each with the version of it that this code is written for
 * (decisions.md#missing-permissions-are-gaps).
 */
export function versionedFetch(fetch: PlainFetch, api_url: string): PlainFetch {
  const versioned: PlainFetch = (url, init = {}) =>
    fetch(url, { ...init, headers: { ...init.headers, 'x-github-api-version': API_VERSION } })
  return oneOriginFetch(versioned, api_url, 'GitHub')
}

/**
 * Requests to one GitHub as one identity. Tokens of installations are kept while they are valid, and
 * requested again when GitHub revokes one.
 */
export class GitHubClient {
  readonly #settings: GitHubSettings
  readonly #base: { baseUrl: string; userAgent: string; log: typeof silent; request: { fetch: PlainFetch } }
  readonly #own: Octokit
  readonly #installed = new Map<number, Octokit>()
  readonly #installation_of = new Map<string, number>()
  readonly #refused = new RefusedReads()
  readonly marks = new WrittenMarks()
  #identity: Identity | null = null

  constructor(settings: GitHubSettings) {
    this.#settings = settings
    const baseUrl = apiUrl(settings.origin)
    this.#base = {
      baseUrl,
      userAgent: settings.user_agent,
      log: silent,
      request: { fetch: versionedFetch(settings.fetch, baseUrl) },
    }
    this.#identity = settings.identity ?? null
    const { credentials } = settings
    this.#own =
      'token' in credentials
        ? new Octokit({ ...this.#base, auth: credentials.token })
        : new Octokit({
            ...this.#base,
            authStrategy: createAppAuth,
            auth: { appId: credentials.app_id, privateKey: credentials.private_key },
          })
  }

  get isApp(): boolean {
    return this.app_id !== null
  }

  get app_id(): number | null {
    const { credentials } = this.#settings
    return 'token' in credentials ? null : credentials.app_id
  }

  /** The account of the credentials, from the first response: it never changes. */
  async identity(): Promise<Identity> {
    this.#identity ??= await this.verifyIdentity()
    return this.#identity
  }

  /** The same by a request, which also checks the credentials. */
  async verifyIdentity(): Promise<Identity> {
    if (!this.isApp) {
      const { data } = await this.asSelf(octokit => octokit.request('GET /user'))
      return { login: readResponse('GitHub', Account, data).login, app: null }
    }
    const { data } = await this.asSelf(octokit => octokit.request('GET /app'))
    const { slug } = readResponse('GitHub', App, data)
    return { login: `${slug}[bot]`, app: slug }
  }

  /** As the app itself, or as the owner of the token. */
  async asSelf<T>(work: (octokit: Octokit) => Promise<T>): Promise<T> {
    return this.#perform(this.#own, work)
  }

  /** As the installation of that repository, or the owner of the token. */
  async on<T>(repo: ForgeRepository, work: (octokit: Octokit) => Promise<T>): Promise<T> {
    const octokit = await this.#for(repo)
    try {
      return await this.#perform(octokit, work)
    } catch (error) {
      if (!this.isApp || !(error instanceof ForgeError) || error.code !== 'auth') throw error
      // GitHub revokes the token of an installation when its permissions change.
      await this.#perform(octokit, () => octokit.auth({ type: 'installation', refresh: true }))
      return this.#perform(octokit, work)
    }
  }

  /**
   * `work`, unless GitHub refused it for this repository a short time ago. New credentials have a client of
   * their own.
   */
  unlessRefused<T>(repo: ForgeRepository, work: () => Promise<T>): Promise<T> {
    return this.#refused.unlessRefused(repo, work)
  }

  async installation<T>(installation_id: number, work: (octokit: Octokit) => Promise<T>): Promise<T> {
    return this.#perform(this.#ofInstallation(installation_id), work)
  }

  async gitToken(repo: ForgeRepository): Promise<{ token: string; expires_at: Date | null }> {
    const { credentials } = this.#settings
    if ('token' in credentials) return { token: credentials.token, expires_at: null }
    const octokit = await this.#for(repo)
    const request = async (refresh: boolean) =>
      readResponse(
        'GitHub',
        InstallationToken,
        await this.#perform(octokit, () => octokit.auth({ type: 'installation', refresh })),
      )
    let found = await request(false)
    if (found.expiresAt.getTime() - Date.now() < GIT_MS) found = await request(true)
    return { token: found.token, expires_at: found.expiresAt }
  }

  async #for(repo: ForgeRepository): Promise<Octokit> {
    const { credentials } = this.#settings
    if ('token' in credentials) return this.#own
    return this.#ofInstallation(credentials.installation_id ?? (await this.#findInstallation(repo)))
  }

  async #findInstallation({ owner, name }: ForgeRepository): Promise<number> {
    const known = this.#installation_of.get(`${owner}/${name}`)
    if (known !== undefined) return known
    const { data } = await this.asSelf(octokit =>
      octokit.request('GET /repos/{owner}/{repo}/installation', { owner, repo: name }),
    )
    const { id } = readResponse('GitHub', Installation, data)
    this.#installation_of.set(`${owner}/${name}`, id)
    return id
  }

  #ofInstallation(installationId: number): Octokit {
    const known = this.#installed.get(installationId)
    if (known) return known
    const { credentials } = this.#settings
    if ('token' in credentials) return this.#own
    const auth = { appId: credentials.app_id, privateKey: credentials.private_key, installationId }
    const created = new Octokit({ ...this.#base, authStrategy: createAppAuth, auth })
    this.#installed.set(installationId, created)
    return created
  }

  async #perform<T>(octokit: Octokit, work: (octokit: Octokit) => Promise<T>): Promise<T> {
    try {
      return await work(octokit)
    } catch (error) {
      throw forgeErrorFrom(error)
    }
  }
}
