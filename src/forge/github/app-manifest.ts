import { Octokit } from '@octokit/core'
import type { PlainFetch } from '../one-origin-fetch.ts'
import { readResponse } from '../read-response.ts'
import { apiUrl, versionedFetch } from './client.ts'
import { forgeErrorFrom } from './failure.ts'
import { ConvertedApp as Shape } from './shapes.ts'

export type ConvertedApp = {
  app_id: number
  slug: string
  private_key: string
  webhook_secret: string | null
  html_url: string
}

/**
 * Returns the app that GitHub has created from a manifest, by its code, which works once. Throws ForgeError.
 */
export async function convertManifest(
  origin: string,
  code: string,
  fetch: PlainFetch,
  user_agent: string,
): Promise<ConvertedApp> {
  const baseUrl = apiUrl(origin)
  const octokit = new Octokit({
    baseUrl,
    userAgent: user_agent,
    request: { fetch: versionedFetch(fetch, baseUrl) },
  })
  try {
    const { data } = await octokit.request('POST /app-manifests/{code}/conversions', { code })
    const { id, slug, pem, webhook_secret } = readResponse('GitHub', Shape, data)
    return { app_id: id, slug, private_key: pem, webhook_secret, html_url: `${origin}/apps/${slug}` }
  } catch (error) {
    throw forgeErrorFrom(error)
  }
}
