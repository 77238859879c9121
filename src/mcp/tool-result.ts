import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'

/** An image of a result, as a data URI. */
type ResultImage = string
/** The content of a result: its texts, with a line for each part that is none. */
export type ResultContent = { text: string; images: ResultImage[]; is_error: boolean }

/** Formats that all providers accept. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MAX_IMAGES = 4
/** Characters of base64 of all images of a result. */
const MAX_IMAGE_CHARS = 3 * 1024 ** 2
/** Characters of the text of a result: it is redacted before it is truncated. */
const MAX_TEXT_CHARS = 4 * 1024 ** 2

/**
 * Returns a result as text and images. Structured content counts where there is no other, because servers
 * repeat it as text.
 */
export function readResult({ content, structuredContent, isError }: CallToolResult): ResultContent {
  const images: ResultImage[] = []
  const lines = content.map(block => (block.type === 'image' ? imageLine(block, images) : lineOf(block)))
  const structured =
    lines.length === 0 && structuredContent !== undefined ? [JSON.stringify(structuredContent, null, 2)] : []
  const parts = [...lines, ...structured]
  const chars = parts.reduce((sum, part) => sum + part.length, 0)
  if (chars > MAX_TEXT_CHARS) return { text: tooLarge(chars), images: [], is_error: true }
  return { text: parts.join('\n').toWellFormed(), images, is_error: isError === true }
}

const tooLarge = (chars: number): string =>
  `The tool was called, but its result of ${chars} characters is left out: a result has at most ${MAX_TEXT_CHARS}. Request less.`

const MAX_TYPE_CHARS = 50
/** Whole or not at all: nothing is redacted yet, and half a secret is not recognized. */
const typeText = (type: string): string => (type.length > MAX_TYPE_CHARS ? '' : ` ${type}`)

type Image = Extract<ContentBlock, { type: 'image' }>

function imageLine({ mimeType, data }: Image, images: ResultImage[]): string {
  const bytes = Math.floor((data.length * 3) / 4)
  const shown = `image${typeText(mimeType)}, ${bytes} bytes`
  if (!IMAGE_TYPES.includes(mimeType)) return `[${shown}: left out, because its format is not accepted]`
  const total = images.reduce((sum, image) => sum + image.length, data.length)
  if (images.length >= MAX_IMAGES || total > MAX_IMAGE_CHARS)
    return `[${shown}: left out, because the images of the result are too large]`
  images.push(`data:${mimeType};base64,${data}`)
  return `[${shown}]`
}

function lineOf(block: Exclude<ContentBlock, Image>): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link')
    return `[link ${block.uri}${block.name === '' ? '' : ` (${block.name})`}]`
  if (block.type === 'audio') return `[audio${typeText(block.mimeType)}: left out]`
  const { resource } = block
  return 'text' in resource
    ? `[resource ${resource.uri}]\n${resource.text}`
    : `[resource ${resource.uri}: left out, because it is not text]`
}
