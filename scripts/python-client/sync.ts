/** What makes the asynchronous client the synchronous one, in order. */
const replacements: [RegExp, string][] = [
  [/\bawait asyncio\.sleep\b/g, 'time.sleep'],
  [/^import asyncio$/gm, 'import time'],
  [/\bawait /g, ''],
  [/\basync (def|with|for)\b/g, '$1'],
  [/\basynccontextmanager\b/g, 'contextmanager'],
  [/\bAsync(Iterator|Client|Runs|Run|Pages)\b/g, '$1'],
  [/\bagentrun\.async_/g, 'agentrun.'],
  [/__a(enter|exit|iter)__/g, '__$1__'],
  [/\ba(read|close|iter_raw)\b/g, '$1'],
  [/\basynchronous\b/g, 'synchronous'],
]

/**
 * Returns a module of the asynchronous Python client as one of the synchronous client, so that both are one
 * code.
 */
export function synchronous(text: string): string {
  return replacements.reduce((code, [pattern, by]) => code.replace(pattern, by), text)
}
