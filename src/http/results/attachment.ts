import { RawResponse } from './raw-response.ts'

/**
 * Returns a response that a browser saves as a file and never shows: its content may be hostile. Any file
 * name is permitted (RFC 6266).
 */
export function attachment({
  content,
  content_type,
  file_name,
}: {
  content: Buffer
  content_type?: string
  file_name: string
}): RawResponse {
  const sound = file_name.replace(/\p{Cc}/gu, '_').toWellFormed()
  const plain = sound.replace(/[^\w.-]/g, '_')
  const name = encodeURIComponent(sound).replace(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const extended = plain === sound ? '' : `; filename*=UTF-8''${name}`
  return new RawResponse(content, content_type ?? 'application/octet-stream', {
    'content-disposition': `attachment; filename="${plain}"${extended}`,
  })
}
