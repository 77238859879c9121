/** A statement that may break code which does not know it, and what is wrong with it. */
export type Contraction = { statement: string; why: string }

const losses: [RegExp, string][] = [
  [
    /\bdrop (table|column|view|materialized view|function|procedure|type|domain|sequence|schema)\b/,
    'drops what older code may use',
  ],
  [/\brename\b/, 'renames what older code may use'],
  [/\bset not null\b/, 'refuses rows that older code may write'],
  [/\balter (column )?\S+ (set data )?type\b/, 'changes a type that older code may read or write'],
  [
    /\badd (column )?(if not exists )?(?!constraint |check |unique |primary |foreign |exclude )(?=.*\bnot null\b)(?!.*\b(default|generated)\b)/,
    'wants a value that older code does not give',
  ],
]
const rule = /\badd (?:constraint (\S+) )?(?:check|unique|primary key|foreign key|exclude)\b/
const unique = /^create unique index \S+ on (?:only )?(\S+)/

/**
 * What a migration does that code of before may not live with: such a migration declares it in its first line
 * (`needsOf` of the store). A statement whose harmlessness cannot be seen gives its reason in a line before
 * it: `-- expansion: why older code lives with it`.
 */
export function contractionsOf(sql: string): Contraction[] {
  const statements = split(
    sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/'(?:[^']|'')*'/g, "''"),
    ';',
  )
    .map(text => ({ excused: /^\s*-- expansion: \S/m.test(text), text: plain(text) }))
    .filter(({ text }) => text !== '')
  const made = statements.flatMap(
    ({ text }) => /^create (?:unlogged )?table (?:if not exists )?(\w+)/.exec(text)?.[1] ?? [],
  )
  const dropped = statements.flatMap(({ text }) =>
    [...text.matchAll(/\bdrop constraint (?:if exists )?(\w+)/g)].map(([, name]) => name),
  )
  const found: Contraction[] = []
  for (const { excused, text } of statements) {
    const table = /^alter table (?:only )?(?:if exists )?(\w+)/.exec(text)?.[1] ?? unique.exec(text)?.[1]
    if (
      excused ||
      (table !== undefined && made.includes(table)) ||
      !/^(alter|drop|create unique index)\b/.test(text)
    )
      continue
    for (const action of text.startsWith('alter table') ? split(text, ',') : [text]) {
      const loss = losses.find(([words]) => words.test(action))?.[1]
      const [ruled, name] = rule.exec(action) ?? []
      const refuses = (ruled !== undefined && !dropped.includes(name)) || unique.test(action)
      const why = loss ?? (refuses ? 'refuses rows that older code may write' : undefined)
      if (why !== undefined) found.push({ statement: action.slice(0, 100), why })
    }
  }
  return found
}

const plain = (text: string) => text.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim().toLowerCase()

/** At separators outside of parentheses and comments. */
function split(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [piece] of text.matchAll(/--[^\n]*|[\s\S]/g)) {
    if (piece === '(') depth++
    if (piece === ')') depth--
    if (piece === separator && depth === 0) parts.push('')
    else parts[parts.length - 1] += piece
  }
  return parts.map(part => part.trim())
}
