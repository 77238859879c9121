import { type HunkTokens, parseDiff, tokenize } from 'react-diff-view'
import bash from 'refractor/bash'
import c from 'refractor/c'
import { refractor } from 'refractor/core'
import cpp from 'refractor/cpp'
import csharp from 'refractor/csharp'
import css from 'refractor/css'
import go from 'refractor/go'
import java from 'refractor/java'
import javascript from 'refractor/javascript'
import json from 'refractor/json'
import jsx from 'refractor/jsx'
import kotlin from 'refractor/kotlin'
import markup from 'refractor/markup'
import php from 'refractor/php'
import python from 'refractor/python'
import ruby from 'refractor/ruby'
import rust from 'refractor/rust'
import sql from 'refractor/sql'
import swift from 'refractor/swift'
import toml from 'refractor/toml'
import tsx from 'refractor/tsx'
import typescript from 'refractor/typescript'
import yaml from 'refractor/yaml'

/** A patch whose lines must be highlighted, or a text. */
export type HighlightRequest = { id: number; language: string } & ({ patch: string } | { text: string })
/** A part of a text with its classes, which may be none. */
export type HighlightedPart = [text: string, classes: string]
/** The response has the `id` of the request: the tokens of each part of a patch, or the parts of a text. */
export type HighlightResult = { id: number; tokens?: HunkTokens[]; parts?: HighlightedPart[] }

const syntaxes = [
  ...[bash, c, cpp, csharp, css, go, java, javascript, json, jsx, kotlin],
  ...[markup, php, python, ruby, rust, sql, swift, toml, tsx, typescript, yaml],
]
for (const syntax of syntaxes) refractor.register(syntax)

/** The library takes the children of a tree, as older versions of refractor returned them. */
const highlighter = {
  highlight: (text: string, language: string) => refractor.highlight(text, language).children,
} as never

type Node = ReturnType<typeof refractor.highlight>['children'][number]

function partsOf(node: Node, classes: string): HighlightedPart[] {
  if (node.type === 'text') return [[node.value, classes]]
  if (node.type !== 'element') return []
  const own = [classes, ...[node.properties.className ?? []].flat()].join(' ').trim()
  return node.children.flatMap(child => partsOf(child, own))
}

self.addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, language } = data
  if ('text' in data) {
    const parts = refractor.highlight(data.text, language).children.flatMap(node => partsOf(node, ''))
    return self.postMessage({ id, parts } satisfies HighlightResult)
  }
  const tokens = parseDiff(data.patch).map(({ hunks }) =>
    tokenize(hunks, { highlight: true, refractor: highlighter, language }),
  )
  self.postMessage({ id, tokens } satisfies HighlightResult)
})
