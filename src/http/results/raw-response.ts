import type { Extent } from '../../core/paging.ts'

/** A response that is text or bytes already: JSON that was stored as it is sent, a patch, a file. */
export class RawResponse {
  readonly body: string | Buffer
  readonly content_type: string
  readonly headers: Record<string, string>
  /** Of a page of a list; absent for everything else. */
  readonly extent: Extent | undefined
  constructor(
    body: string | Buffer,
    content_type: string,
    headers: Record<string, string> = {},
    extent?: Extent,
  ) {
    this.body = body
    this.content_type = content_type
    this.headers = headers
    this.extent = extent
  }
}
