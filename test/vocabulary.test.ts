import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wordsOfSource } from './words-of-source.ts'

/**
 * The project uses the terms of docs/glossary.md. These words belong to an earlier private dialect: reports
 * and requests were "told" and "asked", locations were "places".
 */
const retired = [
  ...[
    'said',
    'told',
    'asked',
    'whoever',
    'anew',
    'farewell',
    'mended',
    'onlooker',
    'onlookers',
    'stood',
    'heard',
    'unheard',
  ],
  ...[
    'say',
    'says',
    'tell',
    'tells',
    'place',
    'places',
    'mend',
    'gate',
    'gates',
    'looked',
    'figure',
    'figures',
  ],
]
/** Retired words in names that clients or stored rows use, so that they cannot change. */
const stored = new Set(['asked', 'mend', 'looked_at', 'looked_for'])
/** `made`: resources are created. Tests and programs may still "make" what is no resource. */
const stored_made = new Set(['made', 'made_at', 'made_at_sha', 'made_by_run'])

/**
 * An answer is what a person sends, the final answer of an agent, or that of a model to a question beside the
 * conversation. HTTP, a model call and a process have a response, a tool has a result. These names have the
 * word; those of the last line are on the wire or stored.
 */
const answers = new Set([
  ...[
    'answer',
    'isAnswer',
    'is_answer',
    'answered',
    'unanswered',
    'answer_seconds',
    'AnswerPane',
    'NoAnswer',
  ],
  ...[
    'finalAnswer',
    'final_answers',
    'publishAnswer',
    'postAnswer',
    'AnswerTask',
    'SideAnswer',
    'AnswerSchema',
    'answerIn',
  ],
  ...['AGENTRUN_ANSWER_MAX_SECONDS', 'FINAL_ANSWER', 'answer_timeout', 'model_answered'],
])
/** Names of responses that were called answers. */
const responses =
  /(?<![\w-])(?:answer(?:s|ed)? (?:JSON|with [1-5]\d\d|[1-5]\d\d)|(?:first|whole) answer of (?:the )?(?:service|server)|HTTP answers?)(?![\w-])/i

const phrases = [
  ...[
    'whoever',
    'anew',
    'by hand',
    'as ever',
    'let go of',
    'lets go of',
    'at work',
    'was told',
    'is told',
    'mend',
    'mended',
    'mends',
  ],
  ...[
    'found out',
    'finds out',
    'find out',
    'stands twice',
    'does not answer',
    'never answers',
    'no longer answers',
    'answers on',
  ],
  ...['who is no', 'second pair of eyes', 'best of a', 'farewell', 'onlookers?', 'unheard'],
  ...['besides', 'all the same', 'as far as', 'so many', 'any more', 'for so long', 'for good'],
  // "must", "should", "had to" or a noun: "a pending sign-in".
  '(?:is|are|was|were) to (?:be|cache|show|stop|execute|continue|keep|verify|sign|connect|start|move|do)',
  // People want; software requires, requests or accepts.
  '(?:service|server|gateway|git|browser|fetch|tool|provider|process|program|page|worker|sandbox|client) wants?',
  ...['puts? out', 'lets? out', 'lets nothing out', 'goes on', 'is not the reason of'],
  // "continue".
  '(?:to|may|can|could|will|should|should not) go on',
  // "the path of", "skip the first N", "is not well-formed", "counts towards".
  'the ways? of (?:an?|the)',
  'leave out this many',
  'counts? for budgets?',
  'no proof of',
  'is no such end',
  // "or null", "null: no scope".
  '(?:null|absent|undefined|empty): none',
]
/** In comments and names of tests. Allowed are the names of identifiers, which are between backticks. */
const in_comments = [...retired, ...phrases, 'stands']

const clone = new URL('../', import.meta.url)
const list = (...paths: string[]) =>
  execFileSync('git', ['ls-files', ...paths], { cwd: clone, encoding: 'utf8' }).split('\n')
const read = (path: string) => readFileSync(new URL(path, clone), 'utf8')
const isTest = (path: string) => path.startsWith('test/') || /\.test\.tsx?$/.test(path)

const files = list('src', 'web/src', 'bench', 'scripts', 'test')
  .filter(path => /\.tsx?$/.test(path) && path !== 'test/vocabulary.test.ts')
  .map(path => ({ path, ...wordsOfSource(new URL(path, clone).pathname) }))

/**
 * "is not a file", not "is no file". A verb of its own has "no": "there is no file", "is no longer", "is no
 * reason to".
 */
const no_noun =
  /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|such\b|other\b|one\b|less\b|smaller\b|matter\b|need\b|reason\b|way\b|limit\b|restriction\b|answer\b)\w/i

const matcher = (words: readonly string[]) => new RegExp(`(?<![\\w-])(?:${words.join('|')})(?![\\w-])`, 'i')

/** Returns the texts that contain one of the words, with the word. */
function matches(path: string, texts: readonly string[], pattern: RegExp): string[] {
  return texts.flatMap(text => {
    const found = pattern.exec(text.replaceAll(/`[^`\n]*`/g, ''))
    return found ? [`${path}: ${found[0]}: ${text.trim().slice(0, 200)}`] : []
  })
}

const wordsOf = (identifier: string) =>
  identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$]+/)

test('no identifier uses a retired word', () => {
  const found = files.flatMap(({ path, identifiers }) =>
    [...identifiers]
      .filter(name => !stored.has(name) && wordsOf(name).some(word => retired.includes(word)))
      .map(name => `${path}: ${name}`),
  )
  expect(found).toEqual([])
})

test('no identifier of the service or the page calls a created resource made', () => {
  const found = files
    .filter(({ path }) => /^(web\/)?src\//.test(path) && !isTest(path))
    .flatMap(({ path, identifiers }) =>
      [...identifiers]
        .filter(name => !stored_made.has(name) && wordsOf(name).includes('made'))
        .map(name => `${path}: ${name}`),
    )
  expect(found).toEqual([])
})

test('no identifier calls a response or a result an answer', () => {
  const found = files.flatMap(({ path, identifiers }) =>
    [...identifiers]
      .filter(
        name => !answers.has(name) && wordsOf(name).some(word => /^(?:un)?answer(?:s|ed|ing)?$/.test(word)),
      )
      .map(name => `${path}: ${name}`),
  )
  expect(found).toEqual([])
  expect([...answers].filter(name => !files.some(({ identifiers }) => identifiers.has(name)))).toEqual([])
})

/**
 * A type is named by a noun: `FoundFiles`, not `Found`. `Redacted` qualifies the type in its brackets, as
 * `Readonly` does.
 */
const bare_participle =
  /^(?!Redacted$)(?:[A-Z][a-z]*(?<!Fe|Se|Spe|Ne)ed|Begun|Brought|Built|Done|Drawn|Found|Given|Held|Kept|Known|Left|LeftOut|Lost|Made|Paid|Put|Ran|Read|Said|Seen|Sent|SentBack|Shown|Spent|Taken|Told|Tried|Written|Accepting|Arriving|Asking|Doing|Failing|Filling|Following|Forwarding|Observing|Preparing|Pushing|Restoring|Serving|SettingUp|Tunnelling|Waiting|Watching)$/

test('no type is named by a participle alone', () => {
  const found = files.flatMap(({ path }) =>
    [...read(path).matchAll(/^\s*(?:export )?(?:type|class|interface) (\w+)\b/gm)]
      .filter(([, name = '']) => bare_participle.test(name))
      .map(([, name]) => `${path}: ${name}`),
  )
  expect(found).toEqual([])
})

test('a participle alone is found, and a noun that reads like one is not', () => {
  const names = [
    'Found',
    'Published',
    'Kept',
    'SentBack',
    'Waiting',
    'Feed',
    'Redacted',
    'FoundFiles',
    'Finding',
  ]
  expect(names.filter(name => bare_participle.test(name))).toEqual(names.slice(0, 5))
})

test('no comment and no name of a test calls a response an answer', () => {
  const found = files.flatMap(({ path, comments, titles }) =>
    matches(path, [...comments, ...(isTest(path) ? titles : [])], responses),
  )
  expect(found).toEqual([])
})

test('no comment and no name of a test uses a retired word', () => {
  const pattern = matcher(in_comments)
  const found = files.flatMap(({ path, comments, titles }) => [
    ...matches(path, comments, pattern),
    ...(isTest(path) ? matches(path, titles, pattern) : []),
  ])
  expect(found).toEqual([])
})

test('no message, log line or other text of the service, the page and the scripts uses a retired phrase', () => {
  const pattern = matcher(phrases)
  const found = files
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, strings }) =>
      matches(
        path,
        strings.filter(text => text.includes(' ')),
        pattern,
      ),
    )
  expect(found).toEqual([])
})

test('nothing is called no file: it is not a file', () => {
  const of_service = files.flatMap(({ path, comments, titles, strings }) => {
    const texts = isTest(path) ? [...comments, ...titles] : [...comments, ...strings]
    // A sentence of a comment continues in its next line.
    const sentences = texts.map(text => text.replaceAll(/\n\s*\* ?/g, ' '))
    return matches(path, sentences, no_noun)
  })
  const of_pages = list('docs', '*.md')
    .filter(path => path.endsWith('.md'))
    .flatMap(path => matches(path, read(path).split('\n'), no_noun))
  expect([...of_service, ...of_pages]).toEqual([])
  for (const text of ['it is no JSON', 'Lines that are no messages', 'the file was no program'])
    expect(no_noun.test(text), text).toBe(true)
  for (const text of ['There is no file', 'it is no longer open', 'is not a file', 'has no file'])
    expect(no_noun.test(text), text).toBe(false)
})

test('no page of the documentation uses a retired phrase', () => {
  const pattern = matcher(phrases)
  const found = list('docs', '*.md')
    .filter(path => path.endsWith('.md'))
    .flatMap(path =>
      matches(
        path,
        read(path)
          .replaceAll(/```[\s\S]*?```/g, '')
          .split('\n'),
        pattern,
      ),
    )
  expect(found).toEqual([])
})

/** A description names what a field is: "Time of the request", not "When it was requested". */
const relative_clause =
  /^(?:(?:until|since|from|by|to|under|at|in|with) )?(?:what|who|whose|whom|where|when|how|why|which)\b(?!.*\?$)/i

test('the API document names fields with noun phrases, and uses no retired phrase', () => {
  const texts = textsOf(JSON.parse(read('docs/openapi.json')))
  expect(texts.length).toBeGreaterThan(1_000)
  expect(texts.filter(text => relative_clause.test(text))).toEqual([])
  expect(matches('docs/openapi.json', texts, matcher(phrases))).toEqual([])
})

function textsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) =>
    (key === 'description' || key === 'summary') && typeof child === 'string' ? [child] : textsOf(child),
  )
}
