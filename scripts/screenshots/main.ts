import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { ReducedPicture } from './reduce-picture.ts'
import { reducePicture } from './reduce-picture.ts'
import { readReferences, writeReferences } from './references.ts'
import { nameOf, takePictures } from './take-pictures.ts'

/**
 * `npm run screenshots` takes a picture of every page: all into `dist/screenshots/` to look at, those that
 * the documents show into `docs/images/`, and all of them reduced into `test/e2e/pictures/`, with which a
 * test compares. With arguments it takes the pages of these names only.
 */
const clone = fileURLToPath(new URL('../../', import.meta.url))
const all_folder = `${clone}dist/screenshots/`
const docs_folder = `${clone}docs/images/`
const QUALITY = 82

/** The pictures of the documents, in the light theme; the first one, of README.md, in both. */
const in_docs = [
  ...[
    'laptop-light-run',
    'laptop-dark-run',
    'laptop-light-runs',
    'laptop-light-run-answer',
    'laptop-light-pull-request',
  ],
  ...[
    'laptop-light-new-run',
    'laptop-light-compare',
    'laptop-light-repository-setup',
    'laptop-light-settings-models',
  ],
  ...['laptop-light-settings-webhooks', 'laptop-light-usage', 'phone-light-run-answer'],
]

/** The page as WebP, with two pixels for each of its own. */
async function sharpPicture(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
  const clip = { x: 0, y: 0, width, height, scale: 2 }
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY, clip })
  await session.detach()
  return Buffer.from(data, 'base64')
}

const names = process.argv.slice(2)
const references = new Map<string, ReducedPicture>()
for (const folder of [all_folder, docs_folder]) mkdirSync(folder, { recursive: true })
await takePictures(
  async (picture, workshop) => {
    const name = nameOf(picture)
    writeFileSync(`${all_folder}${name}.png`, picture.png)
    references.set(name, await reducePicture(workshop, picture.png))
    if (in_docs.includes(name)) writeFileSync(`${docs_folder}${name}.webp`, await sharpPicture(picture.page))
  },
  name => names.length === 0 || names.includes(name),
)
writeReferences(names.length === 0 ? references : new Map([...readReferences(), ...references]))
process.stdout.write(`the pictures are in ${all_folder}\n`)
