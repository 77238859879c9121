import { documentationPages, readPage } from '../documentation.ts'

export type Block = { page: string; text: string }

/** What a line of a shell begins with; other blocks are configuration, output or code. */
const shell =
  /^(?:(?:\.\/)?(?:agentrun|curl|git|npm|npx|node|docker|kubectl|helm|pip|cd|export|install|deploy\/\S+\.sh)|[A-Z][A-Z_]*=\S+)(?=\s)/

/**
 * Every block of commands in the documentation, the quickstart first, because later pages change what it
 * expects.
 */
export function commandBlocks(): Block[] {
  const pages = documentationPages.toSorted(
    (a, b) => Number(b === 'docs/quickstart.md') - Number(a === 'docs/quickstart.md'),
  )
  return pages.flatMap(page =>
    [...readPage(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
      .filter(
        ([, language = '', text = '']) =>
          ['', 'bash', 'sh'].includes(language) && shell.test(text.trimStart()),
      )
      .map(([, , text = '']) => ({ page, text })),
  )
}
