import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const MIN_BYTES = 256

/**
 * Writes each script and style once more with .br and .gz behind its name, as small as can be: the service
 * sends those and compresses nothing itself.
 */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter(name => /\.(js|css|svg)$/.test(name))
      await Promise.all(
        names.map(async name => {
          const content = await readFile(join(dir, name))
          if (content.length < MIN_BYTES) return
          const params = {
            [constants.BROTLI_PARAM_QUALITY]: 11,
            [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          }
          await writeFile(join(dir, `${name}.br`), await promisify(brotliCompress)(content, { params }))
          await writeFile(join(dir, `${name}.gz`), await promisify(gzip)(content, { level: 9 }))
        }),
      )
    },
  }
}
