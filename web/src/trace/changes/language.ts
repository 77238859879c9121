/** Languages that are highlighted, by the endings of their files. */
const endings: Record<string, string[]> = {
  bash: ['sh', 'bash', 'zsh'],
  c: ['c', 'h'],
  cpp: ['cc', 'cpp', 'cxx', 'hpp', 'hh'],
  csharp: ['cs'],
  css: ['css', 'scss', 'less'],
  go: ['go'],
  java: ['java'],
  javascript: ['js', 'cjs', 'mjs'],
  json: ['json', 'jsonc'],
  jsx: ['jsx'],
  kotlin: ['kt', 'kts'],
  markup: ['html', 'htm', 'xml', 'svg', 'vue', 'svelte'],
  php: ['php'],
  python: ['py', 'pyi'],
  ruby: ['rb'],
  rust: ['rs'],
  sql: ['sql'],
  swift: ['swift'],
  toml: ['toml'],
  tsx: ['tsx'],
  typescript: ['ts', 'cts', 'mts'],
  yaml: ['yaml', 'yml'],
}

const languages = new Map(
  Object.entries(endings).flatMap(([language, all]) => all.map(ending => [ending, language])),
)

/** The language of a file by its name; null: it is not highlighted. */
export const languageOf = (path: string): string | null =>
  languages.get(/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '') ?? null
