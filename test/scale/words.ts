import { searchSignature } from '../../src/core/runs/trace/search-signature.ts'
import { entryTail, searchedText } from '../../src/core/runs/trace/stored-entry.ts'

const words =
  `add allow api archive avoid batch branch build bundle cache call change check clean client close code column commit compare compile
  config connect context copy count create cursor database default delete deploy deprecate detect diff document drop edge edit empty endpoint
  entry enum escape event example export extend fail fallback fetch field file filter flaky flag format function generate guard handle hash
  header helper history hook ignore import improve index inline input install instance invoice issue join journal key label language layer
  lease limit link list loader lock log login merge message metric migrate missing mock model module move name nested network null object
  offset option order output package page parse patch path pattern payload policy pool port prefix print process profile prompt proxy publish
  pull push query queue quota race range rate read rebase record redirect reduce refactor reject release remove rename render replace report
  request reset resolve response restart retry return review rollback rotate round route sandbox scan schema scope search secret select send
  server session shard sign size skip snapshot socket sort source split stale start state step storage stream string style suffix support sync
  table tag target task template test text thread throttle timeout token trace transaction translate trigger trim type undo unit update upgrade
  upload usage user validate value verify version view wait warning watch webhook window worker wrap write zone`.split(
    /\s+/,
  )

/** In a quarter of the texts, in about one of 4,096, and in none. */
export const searched = { common: 'regression', rare: 'xylophone', none: 'quokka' }
export const TEXTS = 4_096

/** The same sequence in each run. */
function randomly(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Returns texts of words, as people write tasks and programs write output. */
export function textsOf(count: number, length: number, seed: number): string[] {
  const random = randomly(seed)
  return Array.from({ length: TEXTS }, (_, n) => {
    const text = Array.from({ length }, () => words[Math.floor(random() * words.length)] ?? '')
    if (n % 4 === 0) text[3] = searched.common
    if (n === 7) text[5] = searched.rare
    return text.join(' ')
  }).slice(0, count)
}

/** Returns the part of an entry that does not depend on its run and position, as JSON, and its signature. */
export function entryTexts(): { tail: string; signature: Buffer }[] {
  return textsOf(TEXTS, 14, 3).map((output, n) => {
    const entry = {
      message_type: 'ACTION',
      thought: n % 3 === 0 ? output.slice(0, 40) : null,
      tool_name: n % 2 === 0 ? 'shell' : 'read',
      tool_input: { command: `grep -rn ${output.slice(0, 12)} src` },
      tool_output: { status: 'ok', exit_code: n % 9 === 0 ? 1 : 0, output, truncated: false },
      observation: null,
      duration_ms: 40,
      truncated: false,
    }
    const tail = entryTail({ json: JSON.stringify(entry), artifact_url: null })
    return { tail, signature: searchSignature(searchedText(tail)) }
  })
}
