import { plainText } from '../../plain-text.ts'
import { type Action, list, resource, single, table } from '../../resource.ts'

/** As the field of the API, which keeps this word. */
const CREATED_HEADING = 'MADE'

const lines = ({ dropped }: { dropped: number }) => [`dropped: ${dropped}`]
const dropAll = single({ operation: 'dropEnvironments', repeatable: true, lines })
const dropOne = single({ operation: 'dropEnvironment', lines })
const drop: Action = {
  words: [1, 2],
  run: (given, ...words) => (words.length === 1 ? dropAll : dropOne).run(given, ...words),
}

export const environments = resource({
  name: 'environments',
  summary: 'list the environments that setup commands have prepared, or drop them to prepare new ones',
  usage: ['list REPO', 'drop REPO [ID]'],
  words: [2, 3],
  exact: true,
  options: {},
  notes: ['drop without an ID drops all environments of the repository. Runs that use one are not affected.'],
  actions: {
    list: list({
      takes: 'a repository and nothing else',
      operation: 'listEnvironments',
      lines: table({
        ID: one => `${one.id}`,
        [CREATED_HEADING]: one => one.made_at,
        'BY RUN': one => `${one.made_by_run}`,
        REF: one => plainText(one.base_ref),
        COMMIT: one => one.base_sha.slice(0, 8),
        MIB: one => (one.bytes / 1024 ** 2).toFixed(1),
        USES: one => `${one.uses}`,
        SETUP: one => `${(one.setup_ms / 1000).toFixed(1)} s`,
      }),
    }),
    drop,
  },
})
