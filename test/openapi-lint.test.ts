import { createConfig, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { documentText } from '../scripts/write-openapi.ts'

type Document = {
  tags: { description?: string }[]
  paths: Record<
    string,
    Record<string, { description?: string; operationId: string; parameters: { description?: string }[] }>
  >
  components: {
    schemas: Record<string, unknown>
    examples: Record<string, { value: Record<string, unknown> }>
  }
}

/**
 * Every rule of the linter that fits this API. Not taken: plural path segments (the paths are given), and
 * what follows.
 */
const rules: RawUniversalConfig['rules'] = {
  // The inputs of the agent's tools are published for readers; test/drift.test.ts searches for other unused
  // components.
  'no-unused-components': 'off',
  // What takes neither token nor input refuses nothing of its own.
  'operation-4xx-response': 'off',
  'response-contains-header': { severity: 'error', names: { 200: ['X-Request-Id'] } },
  ...Object.fromEntries(
    [
      ...[
        'array-parameter-serialization',
        'component-name-unique',
        'info-license-strict',
        'no-ambiguous-paths',
        'no-duplicated-enum-values',
      ],
      ...['no-duplicated-tag-names', 'no-enum-type-mismatch', 'no-http-verbs-in-paths', 'no-identical-paths'],
      ...[
        'no-illogical-composition-keywords',
        'no-invalid-media-type-examples',
        'no-invalid-parameter-examples',
      ],
      ...[
        'no-invalid-schema-examples',
        'no-mixed-number-range-constraints',
        'no-required-schema-properties-undefined',
      ],
      ...[
        'no-schema-type-mismatch',
        'no-unsafe-markdown',
        'operation-4xx-problem-details-rfc7807',
        'operation-description',
      ],
      ...[
        'operation-singular-tag',
        'parameter-description',
        'path-http-verbs-order',
        'path-not-include-query',
        'paths-kebab-case',
      ],
      ...[
        'security-scopes-defined',
        'spec-components-invalid-map-name',
        'spec-example-values',
        'spec-ref-siblings',
        'spec-strict-refs',
      ],
      ...['tag-description'],
    ].map(rule => [rule, 'error']),
  ),
}

async function findings(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
  )
}

test('the linter reports nothing about the document', async () => {
  // Published clients call these by this name.
  const given = 'paths-kebab-case: `/v1/organizations/{org_id}/claude_code/session'
  expect((await findings(documentText())).filter(finding => !finding.startsWith(given))).toEqual([])
})

/** One thing wrong each. */
const broken: [string, (document: Document) => unknown][] = [
  ['operation-description', ({ paths }) => delete paths['/healthz']?.get?.description],
  [
    'parameter-description',
    ({ paths }) => delete paths['/v1/organizations']?.get?.parameters[0]?.description,
  ],
  ['tag-description', ({ tags }) => delete tags[0]?.description],
  [
    'no-invalid-media-type-examples',
    ({ components }) => Object.assign(components.examples.AgentRun?.value ?? {}, { id: 'x' }),
  ],
  ['no-unresolved-refs', ({ components }) => delete components.schemas.UserResponse],
  [
    'operation-operationId-unique',
    ({ paths }) => Object.assign(paths['/healthz']?.get ?? {}, { operationId: 'getReadiness' }),
  ],
  ['struct', ({ paths }) => Object.assign(paths['/healthz']?.get ?? {}, { parameters: 'none' })],
]
test('it would name everything that is wrong', async () => {
  const document = JSON.parse(documentText()) as Document
  for (const [, spoil] of broken) spoil(document)
  const found = (await findings(JSON.stringify(document))).map(finding => finding.split(':')[0])
  expect(broken.map(([rule]) => rule).filter(rule => !found.includes(rule))).toEqual([])
})
