import type { Page } from 'playwright-core'

/**
 * What is stored of a picture to compare the next one with: the picture at a quarter of its size, in which a
 * moved or missing part is seen and the edge of a letter is not, and the colours of its areas, exactly.
 */
export type ReducedPicture = {
  /** Lossless WebP, as base64. */
  small: string
  /** Each colour of at least `MIN_POINTS` points. */
  colours: string[]
}

type Canvas = {
  getContext(kind: '2d', options: object): Context
  convertToBlob(options: object): Promise<Blob>
}
type Context = {
  drawImage(...args: unknown[]): void
  getImageData(...args: number[]): { data: Uint8ClampedArray }
  imageSmoothingQuality: string
}
type InPage = {
  createImageBitmap(blob: Blob): Promise<{ width: number; height: number }>
  OffscreenCanvas: new (width: number, height: number) => Canvas
}

const SCALE = 4
/** An area of a colour; letters and icons have fewer points of each. */
export const MIN_POINTS = 800

/**
 * Reduces a picture in a page of Chromium, which reads and writes images. `min_points`: how many points of a
 * colour are an area.
 */
export function reducePicture(page: Page, png: Buffer, min_points = MIN_POINTS): Promise<ReducedPicture> {
  return page.evaluate(
    async ({ png, scale, min_points }) => {
      const { createImageBitmap, OffscreenCanvas } = globalThis as unknown as InPage
      const bytes = Uint8Array.from(atob(png), letter => letter.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes]))
      const { width, height } = image
      const full = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
      full.drawImage(image, 0, 0)
      const pixels = new Uint32Array(full.getImageData(0, 0, width, height).data.buffer)
      const counts = new Map<number, number>()
      for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
      const hex = (pixel: number) =>
        `#${[pixel, pixel >> 8, pixel >> 16].map(channel => (channel & 255).toString(16).padStart(2, '0')).join('')}`
      const areas = [...counts].filter(([, count]) => count >= min_points)
      const canvas = new OffscreenCanvas(Math.round(width / scale), Math.round(height / scale))
      const context = canvas.getContext('2d', {})
      context.imageSmoothingQuality = 'high'
      context.drawImage(image, 0, 0, Math.round(width / scale), Math.round(height / scale))
      const small = new Uint8Array(
        await (await canvas.convertToBlob({ type: 'image/webp', quality: 1 })).arrayBuffer(),
      )
      const letters = Array.from(small, byte => String.fromCharCode(byte)).join('')
      return { small: btoa(letters), colours: areas.map(([pixel]) => hex(pixel)).sort() }
    },
    { png: png.toString('base64'), scale: SCALE, min_points },
  )
}

/**
 * Returns which share of the points of two small pictures differs by more than `step` of 255 in a channel; 1
 * for pictures of different sizes.
 */
export function differingShare(page: Page, first: string, second: string, step: number): Promise<number> {
  return page.evaluate(
    async ({ first, second, step }) => {
      const { createImageBitmap, OffscreenCanvas } = globalThis as unknown as InPage
      const read = async (base64: string) => {
        const image = await createImageBitmap(
          new Blob([Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))]),
        )
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d', {})
        context.drawImage(image, 0, 0)
        return { width: image.width, data: context.getImageData(0, 0, image.width, image.height).data }
      }
      const [one, other] = await Promise.all([read(first), read(second)])
      if (one.width !== other.width || one.data.length !== other.data.length) return 1
      let differing = 0
      for (let at = 0; at < one.data.length; at += 4)
        if (
          [0, 1, 2].some(
            channel => Math.abs((one.data[at + channel] ?? 0) - (other.data[at + channel] ?? 0)) > step,
          )
        )
          differing++
      return differing / (one.data.length / 4)
    },
    { first, second, step },
  )
}
