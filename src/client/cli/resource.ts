import type { Body, OperationName, Query, Result } from '../sdk/operations.ts'
import { routes } from '../sdk/routes.ts'
import {
  type Command,
  type CommandArguments,
  command,
  type Options,
  printResult,
  type Values,
  whole,
} from './command.ts'
import { UsageError } from './exit.ts'
import { columns, type Printer } from './printer.ts'
import { repositoryId } from './repository.ts'

/** What the first word of a command selects. */
export type Action<O extends Options = Options> = {
  /** What must follow, like `the id of a token`. */
  takes?: string
  /** How many words follow; by default one if it takes something, otherwise none. */
  words?: readonly [min: number, max: number]
  run(given: CommandArguments<O>, ...words: string[]): Promise<number>
}

type Resource<O extends Options> = Omit<Command<O>, 'choices' | 'run'> & {
  /** The first one is executed when none is given. */
  actions: Record<string, Action<O>>
  /** Refuses words that the action does not use. */
  exact?: boolean
}

/** Returns a command whose first word is one of its actions. */
export function resource<const O extends Options>({
  actions,
  exact = false,
  ...definition
}: Resource<O>): Command {
  const choices = Object.keys(actions)
  return command({
    ...definition,
    choices,
    async run(given) {
      const [name = choices[0] ?? '', ...words] = given.words
      const action = actions[name]
      if (action === undefined)
        throw new UsageError(`agentrun ${definition.name} must be one of ${choices.join(', ')}`)
      const { takes, words: [min, max] = takes === undefined ? [0, 0] : [1, 1] } = action
      if (words.length < min || (exact && words.length > max))
        throw new UsageError(`agentrun ${definition.name} ${name} takes ${takes ?? 'nothing else'}`)
      return action.run(given, ...words)
    },
  })
}

type JsonName = { [N in OperationName]: [Result<N>] extends [never] ? never : N }[OperationName]
type Page = { items: readonly unknown[]; total?: number }
type ListName = { [N in JsonName]: Result<N> extends Page ? N : never }[JsonName]
type Item<N extends ListName> = Result<N> extends { items: readonly (infer I)[] } ? I : never

/** An operation of the contract, whose path names the words that it takes. */
type Operation<N extends JsonName> = Pick<Action, 'takes' | 'words'> & {
  operation: N
  /** The same operation of the repository that `--repo` names. */
  of_repository?: { [M in JsonName]: Result<M> extends Result<N> ? M : never }[JsonName]
}

type Single<N extends JsonName, O extends Options> = Operation<N> & {
  /** A function is called when the repository is known; what is wrong is refused before any request. */
  body?(given: CommandArguments<O>, ...words: string[]): Body<N> | (() => Promise<Body<N>>)
  /** Declares that the request may arrive twice. A GET and a PUT always may. */
  repeatable?: boolean
  /** A note before the lines. */
  about?(result: Result<N>, ...words: string[]): string
  lines(result: Result<N>, ...words: string[]): string[]
  /** What to do next. */
  note?: string
}

/** Returns the action that calls an operation and prints the lines of its result. */
export const single = <N extends JsonName, O extends Options = Options>(
  definition: Single<N, O>,
): Action<O> => ({
  ...wordsOf(definition),
  async run(given, ...words) {
    const { json, print } = given
    const { about, lines, note } = definition
    const body = definition.body?.(given, ...words)
    const { name, params } = await target(given, definition, words)
    const repeatable = definition.repeatable ?? (routes[name].method === 'PUT' || undefined)
    const input = { params, body: typeof body === 'function' ? await body() : body, repeatable }
    const result = await call<N>(given, name, input)
    if (about !== undefined && !json) print.note(about(result, ...words))
    printResult(given, result, () => lines(result, ...words))
    if (note !== undefined) print.note(note)
    return 0
  },
})

type List<N extends ListName, O extends Options> = Operation<N> & {
  query?(given: CommandArguments<O>): Query<N> | Promise<Query<N>>
  /** How many items are requested without --limit; by default the API decides. */
  limit?: number
  lines(items: readonly Item<N>[], print: Printer): string[]
  /** The noun of the items, for the note that there are more. */
  noun?: string
  /** The note when there are no items. */
  empty?: string
}

/** Returns the action that prints a page of a list, chosen by --limit and --skip if the command has them. */
export const list = <N extends ListName, O extends Options = Options>(definition: List<N, O>): Action<O> => ({
  ...wordsOf(definition),
  async run(given, ...words) {
    const { json, print } = given
    const { limit, noun, empty } = definition
    const values = given.values as Values<Options>
    const range = { limit: whole('--limit', values.limit) ?? limit, skip: whole('--skip', values.skip) }
    const query = { ...(await definition.query?.(given)), ...range }
    const { name, params } = await target(given, definition, words)
    const page = (await call<N>(given, name, { params, query })) as Result<N> & { items: readonly Item<N>[] }
    const { items, total = items.length } = page as Page & typeof page
    if (json) print.json(page)
    else if (total === 0 && empty !== undefined) print.note(empty)
    else for (const line of definition.lines(items, print)) print.line(line)
    if (json || total <= items.length) return 0
    const others = limit === undefined ? '--skip shows others' : '--limit and --skip show others'
    print.note(`${items.length} of ${total}${noun === undefined ? '' : ` ${noun}`}; ${others}`)
    return 0
  },
})

/** The headings of columns, each with the text of its cells. */
type Cells<I> = Record<string, (item: I) => string>

const rowsOf = <I>(cells: Cells<I>, items: readonly I[]): string[][] => [
  Object.keys(cells),
  ...items.map(item => Object.values(cells).map(cell => cell(item))),
]

/** Returns a table under dim headings. */
export const table =
  <I>(cells: Cells<I>) =>
  (items: readonly I[], { style }: Pick<Printer, 'style'>): string[] =>
    columns(rowsOf(cells, items), (text, row) => (row === 0 ? style('dim', text) : text))

/** Returns a table without colour, or the line `none` when there are no items. */
export const plainTable =
  <I>(none: string, cells: Cells<I>) =>
  (items: readonly I[]): string[] =>
    items.length === 0 ? [none] : columns(rowsOf(cells, items))

/** How errors name the path parameters of the contract. */
const parameters: Record<string, string> = {
  delivery_id: 'the id of a delivery',
  environment_id: 'the id of an environment',
  invitation_id: 'the id of an invitation',
  name: 'the name of a secret',
  pr_id: 'the id of a pull request',
  repo_id: 'a repository',
  server: 'the name of a server',
  skill: 'the name of a skill',
  token_id: 'the id of a token',
  user_id: 'the id of a user',
}

/**
 * Returns the path parameters that the words of a command line are, in their order. The client knows the
 * organization.
 */
const parametersOf = (operation: OperationName): string[] =>
  [...routes[operation].path.matchAll(/\{(\w+)\}/g)]
    .map(([, name = '']) => name)
    .filter(name => name !== 'org_id')

function wordsOf({ operation, takes, words }: Operation<JsonName>): Pick<Action, 'takes' | 'words'> {
  const names = parametersOf(operation)
  const described =
    takes ?? (names.length === 0 ? undefined : names.map(name => parameters[name] ?? name).join(' and '))
  const needed = Math.max(names.length, described === undefined ? 0 : 1)
  return { takes: described, words: words ?? [needed, needed] }
}

/**
 * Returns the operation and its path parameters: with `--repo`, those of the repository. A repository is
 * given by its id or name, for which the service is called last. Other parameters that end with `_id` are
 * whole numbers.
 */
async function target(
  given: CommandArguments<Options>,
  definition: Operation<JsonName>,
  words: readonly string[],
) {
  const { operation, of_repository } = definition
  const repo = of_repository === undefined ? undefined : given.values.repo
  const name = repo === undefined ? operation : (of_repository ?? operation)
  const left = repo === undefined ? [...words] : [repo, ...words]
  const params: Record<string, string | number> = {}
  for (const parameter of parametersOf(name)) {
    const word = left.shift() ?? ''
    const is_number = parameter.endsWith('_id') && parameter !== 'repo_id'
    params[parameter] = is_number ? whole(parameters[parameter] ?? parameter, word) : word
  }
  if (params.repo_id !== undefined)
    params.repo_id = await repositoryId(given.client(), String(params.repo_id), given.signal)
  return { name, params }
}

type Input = { params: object; query?: object; body?: unknown; repeatable?: boolean }
type Caller = { call(name: OperationName, input: Input & { signal: AbortSignal }): Promise<unknown> }

/**
 * The compiler cannot relate an input to a variable operation: `params` comes from the contract, the rest has
 * the types of the definition.
 */
const call = <N extends JsonName>(
  { client, signal }: CommandArguments<Options>,
  name: OperationName,
  input: Input,
) => (client() as Caller).call(name, { ...input, signal }) as Promise<Result<N>>

/** The option of a command whose operations exist for the organization and for a repository. */
export const of_repository = {
  repo: { type: 'string', value: 'ID|NAME', about: 'of this repository; by default of the organization' },
} as const satisfies Options

/** The options of lists that the API limits. */
export const pageOptions = <const A extends readonly string[]>(actions: A) =>
  ({
    limit: { type: 'string', value: 'N', actions, about: 'how many, 100 by default and at most' },
    skip: { type: 'string', value: 'N', actions, about: 'skip the first N' },
  }) as const satisfies Options

/** The options of lists that begin with the newest. */
export const newest_options = {
  limit: { type: 'string', value: 'N', about: 'how many, 20 by default, 100 at most' },
  skip: { type: 'string', value: 'N', about: 'skip the first N' },
} as const satisfies Options
