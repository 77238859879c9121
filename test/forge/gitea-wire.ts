// biome-ignore lint/suspicious/noExplicitAny: requests were checked by the description
type Json = any
export type GiteaRequest = { params: Record<string, string>; query: URLSearchParams; body: Json }
export type GiteaResponse = { status: number; body?: Json; headers?: Record<string, string> }

/** What servers of different versions and settings do differently. */
export type GiteaSet = {
  /** Older versions do not report whether a pull request is a draft. */
  reports_draft: boolean
  /** A user who does not administer a repository cannot read the permissions of others. */
  is_repository_admin: boolean
  /** The maximum page size of the server, and how it reports that there is more. */
  most_per_page: number
  counts_by: 'link' | 'total' | 'neither'
}
