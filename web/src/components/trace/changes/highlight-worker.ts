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

/** A patch whose lines are to be highlighted. The response has the same `id`, and the tokens of each of its parts. */
export type HighlightRequest = { id: number; patch: string; language: string }
export type HighlightResult = { id: number; tokens: HunkTokens[] }

const syntaxes = [
  ...[bash, c, cpp, csharp, css, go, java, javascript, json, jsx, kotlin],
  ...[markup, php, python, ruby, rust, sql, swift, toml, tsx, typescript, yaml],
]
for (const syntax of syntaxes) refractor.register(syntax)

/** The library takes the children of a tree, as older versions of refractor returned them. */
const highlighter = { highlight: (text: string, language: string) => refractor.highlight(text, language).children } as never

self.addEventListener('message', ({ data: { id, patch, language } }: MessageEvent<HighlightRequest>) => {
  const tokens = parseDiff(patch).map(({ hunks }) => tokenize(hunks, { highlight: true, refractor: highlighter, language }))
  self.postMessage({ id, tokens } satisfies HighlightResult)
})
