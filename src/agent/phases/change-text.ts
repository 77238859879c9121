/** The difference between two commits. `patch_truncated`: `patch` is its beginning. */
export type Change = { patch: string; patch_truncated: boolean }

const PATCH_CHARS = 60_000
const TAGS = /<(?=\s*(?:\/\s*)?(?:commits|change|answer|template|title|description)\b)/gi

/** Returns a text between tags that it cannot contain. */
export const quoted = (
  tag: 'commits' | 'change' | 'answer' | 'template' | 'title' | 'description',
  text: string,
): string => `<${tag}>\n${text.replace(TAGS, '‹')}\n</${tag}>`

export function changeText({ patch, patch_truncated }: Change): string {
  const shown = patch.slice(0, PATCH_CHARS)
  const cut =
    patch_truncated || shown.length < patch.length ? '\n[The change continues; this is its beginning.]' : ''
  return `The change:\n${quoted('change', shown)}${cut}`
}
