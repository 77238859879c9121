import { setImmediate } from 'node:timers/promises'
import { readPacket } from '../process/pkt-line.ts'

/**
 * A line of a fetch that may be passed to git. `mark`: a commit that the client has, or where its history
 * ends. `rest`: what follows the name of the object. Texts are latin1, as they are in the request.
 */
export type FetchLine =
  | { kind: 'want'; sha: string; rest: string }
  | { kind: 'mark'; word: 'have' | 'shallow'; sha: string }
  | { kind: 'deepen_not'; name: string }
  | { kind: 'option'; text: string }
  | { kind: 'flush' }
  | { kind: 'delimiter' }

/** Returns null for a line that is not accepted, and `unused` for one that is not passed on. */
type Reader = (text: string) => FetchLine | 'unused' | null

/** Why a request is refused. Git shows it. */
type Problem = { problem: string }

const NOT_GIT: Problem = { problem: 'this is not a request of git' }

/** More than a checkout of a partial clone requests. */
const MAX_LINES = 250_000
/** Between two turns of the event loop. */
const LINES_AT_ONCE = 5_000

/**
 * The options of a fetch, each in the only form that is accepted. Others exist that read refs or objects by
 * name.
 */
const FETCH_WORDS = new Set([
  'thin-pack',
  'no-progress',
  'include-tag',
  'ofs-delta',
  'deepen-relative',
  'wait-for-done',
  'done',
])
const DEEPEN = /^deepen(-since)? [1-9][0-9]{0,18}$/
const MAX_DEPTH = 2_147_483_647
const FILTER = /^filter (blob:none|blob:limit=[0-9]{1,15}[kmgKMG]?|tree:[0-9]{1,9})$/
const OBJECT = /^(want|have|shallow) ([0-9a-f]{40})$/
const FIRST_WANT = /^want ([0-9a-f]{40})( .*)?$/
/** Of no effect here; not passed to git. */
const UNUSED_CAPABILITY = /^(agent|server-option)=[\x21-\x7e]{1,1000}$/
const PREFIX = /^ref-prefix [^\x00-\x20\x7f]*$/

const OBJECT_FORMAT = 'object-format=sha1'
/** What a client of protocols 0 and 1 may select in its first line: what the service offers. */
const CAPABILITIES = new Set([
  'multi_ack',
  'multi_ack_detailed',
  'no-done',
  'thin-pack',
  'side-band',
  'side-band-64k',
  'ofs-delta',
  'deepen-since',
  'deepen-not',
  'deepen-relative',
  'no-progress',
  'include-tag',
  'filter',
  OBJECT_FORMAT,
])

type StateName =
  | 'command'
  | 'list_head'
  | 'list'
  | 'fetch_head'
  | 'fetch'
  | 'first_want'
  | 'wants'
  | 'haves'
  | 'over'
/**
 * How a line is read, and which state follows: by default the same one. An absent `flush` or `delimiter` is a
 * problem.
 */
type State = { read: Reader; after?: (text: string) => StateName; flush?: StateName; delimiter?: StateName }

/** A flush as the first packet is how a client tests its password. */
const STATES: Record<StateName, State> = {
  // Protocol 2: one command with its arguments.
  command: {
    read: readCommand,
    after: text => (text === 'command=fetch' ? 'fetch_head' : 'list_head'),
    flush: 'over',
  },
  list_head: { read: readCapability, delimiter: 'list', flush: 'over' },
  list: { read: readListLine, flush: 'over' },
  fetch_head: { read: readCapability, delimiter: 'fetch', flush: 'over' },
  fetch: { read: readFetchLine, flush: 'over' },
  // Protocols 0 and 1: what the client requests, a flush, then what it has, in any number of parts.
  first_want: { read: readFirstWant, after: () => 'wants', flush: 'over' },
  wants: { read: readWantsLine, flush: 'haves' },
  haves: { read: readHavesLine, after: text => (text === 'done' ? 'over' : 'haves'), flush: 'haves' },
  over: { read: () => null },
}

/**
 * Reads a request as a list of known lines. Whatever git might understand in another way (an object in
 * capitals, a ref by name, a further command) is a problem: git never sees a line that was not read here.
 */
export async function readFetchRequest(bytes: Buffer, protocol: 0 | 1 | 2): Promise<FetchLine[] | Problem> {
  const lines: FetchLine[] = []
  let state: StateName = protocol === 2 ? 'command' : 'first_want'
  for (let at = 0, count = 1; at < bytes.length; count++) {
    if (count > MAX_LINES) return { problem: `a request has at most ${MAX_LINES} lines` }
    if (count % LINES_AT_ONCE === 0) await setImmediate()
    const read = readPacket(bytes, at)
    if (read === null || read === 'more') return NOT_GIT
    at = read.next
    const { packet } = read
    if (packet.kind === 'line') {
      const text = textOf(packet.content)
      const line = STATES[state].read(text)
      if (line === null) return unknownLine(state, text)
      if (line !== 'unused') lines.push(line)
      state = STATES[state].after?.(text) ?? state
    } else {
      const next: StateName | undefined = packet.kind === 'end' ? undefined : STATES[state][packet.kind]
      if (next === undefined || packet.kind === 'end') return NOT_GIT
      lines.push({ kind: packet.kind })
      state = next
    }
  }
  return state === 'over' || state === 'haves' ? lines : NOT_GIT
}

function readCommand(text: string): FetchLine | null {
  return text === 'command=ls-refs' || text === 'command=fetch' ? { kind: 'option', text } : null
}

function readCapability(text: string): 'unused' | null {
  return text === OBJECT_FORMAT || UNUSED_CAPABILITY.test(text) ? 'unused' : null
}

function readListLine(text: string): FetchLine | null {
  return text === 'peel' || text === 'symrefs' || text === 'unborn' || PREFIX.test(text)
    ? { kind: 'option', text }
    : null
}

function readFetchLine(text: string): FetchLine | null {
  return FETCH_WORDS.has(text) ? { kind: 'option', text } : (readObject(text) ?? readDepth(text))
}

function readFirstWant(text: string): FetchLine | null {
  const [, sha, rest = ''] = FIRST_WANT.exec(text) ?? []
  if (sha === undefined) return null
  const capabilities = rest.split(' ').filter(name => name !== '')
  const used = capabilities.filter(name => !UNUSED_CAPABILITY.test(name))
  if (used.some(name => !CAPABILITIES.has(name))) return null
  return { kind: 'want', sha, rest: used.map(name => ` ${name}`).join('') }
}

function readWantsLine(text: string): FetchLine | null {
  const line = readObject(text) ?? readDepth(text)
  return line?.kind === 'mark' && line.word === 'have' ? null : line
}

function readHavesLine(text: string): FetchLine | null {
  if (text === 'done') return { kind: 'option', text }
  const line = readObject(text)
  return line?.kind === 'mark' && line.word === 'have' ? line : null
}

function readObject(text: string): FetchLine | null {
  const [, word, sha] = OBJECT.exec(text) ?? []
  if (sha === undefined) return null
  return word === 'want'
    ? { kind: 'want', sha, rest: '' }
    : { kind: 'mark', word: word === 'have' ? 'have' : 'shallow', sha }
}

function readDepth(text: string): FetchLine | null {
  if (text.startsWith('deepen-not ')) return { kind: 'deepen_not', name: text.slice('deepen-not '.length) }
  const is_depth =
    DEEPEN.test(text) &&
    (text.startsWith('deepen-since') || Number(text.slice('deepen '.length)) <= MAX_DEPTH)
  return is_depth || FILTER.test(text) ? { kind: 'option', text } : null
}

/** Git ignores one newline at the end of a line. */
const textOf = (content: Buffer) => content.toString('latin1').replace(/\n$/, '')

function unknownLine(state: StateName, text: string): Problem {
  if (state === 'command') return { problem: 'the commands here are ls-refs and fetch' }
  const shown = text.slice(0, 100).replace(/[^\x20-\x7e]/g, '?')
  return {
    problem: text.startsWith('filter ')
      ? `${shown}: this filter is not supported`
      : `this line is not accepted here: ${shown}`,
  }
}
