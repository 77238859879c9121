import { type Endpoint, org, v1 } from '../endpoint.ts'
import {
  DeleteModelQuery,
  ModelDetail,
  ModelInput,
  ModelSettingsList,
  ModelTest,
  ProviderDetail,
  ProviderInput,
  providerParam,
  TestModelInput,
} from '../organizations/models.ts'

const base = { ...v1, tag: 'models', bucket: 'standard' } as const
const effect =
  'New turns use it immediately, in all processes. It applies only to the runs of this organization, and overrides the configuration of the operator.'

/** Models and keys of providers of an organization (specification.md#access). */
export const modelEndpoints = {
  getModelSettings: {
    ...base,
    method: 'GET',
    path: '/v1/organizations/{org_id}/models/settings',
    summary: 'List models with prices and limits, and whose keys their providers use',
    scope: 'org:read',
    params: org,
    response: ModelSettingsList,
  },
  setModelProvider: {
    ...base,
    method: 'PUT',
    path: '/v1/organizations/{org_id}/models/providers/{provider}',
    summary: 'Set the key of a provider',
    description: `${effect} The key is sealed like a secret, is redacted from traces and is never returned. An address of the organization must be public, unless the operator permits private ones.`,
    scope: 'org:admin',
    params: org.extend({ provider: providerParam() }),
    problems: ['conflict'],
    body: ProviderInput,
    response: ProviderDetail,
  },
  deleteModelProvider: {
    ...base,
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/models/providers/{provider}',
    summary: "Remove the organization's key of a provider",
    description: 'Its models then use the key of the operator, if there is one.',
    scope: 'org:admin',
    params: org.extend({ provider: providerParam() }),
    problems: ['not_found'],
    response: ProviderDetail,
  },
  setModel: {
    ...base,
    method: 'PUT',
    path: '/v1/organizations/{org_id}/models/custom',
    summary: 'Add a model, or change the settings of a known one',
    description: `${effect} The fields are those of \`AGENTRUN_MODELS\`, with the key itself instead of a variable's name; an absent field is unset. At most 100 models and providers: one more is 409.`,
    scope: 'org:admin',
    params: org,
    problems: ['conflict'],
    body: ModelInput,
    response: ModelDetail,
  },
  deleteModel: {
    ...base,
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/models/custom',
    summary: 'Remove a model that the organization added, or its changes of one',
    scope: 'org:admin',
    params: org,
    query: DeleteModelQuery,
    problems: ['not_found'],
    response: ModelSettingsList,
  },
  testModel: {
    ...base,
    bucket: 'tool_execution',
    method: 'POST',
    path: '/v1/organizations/{org_id}/models/test',
    summary: 'Call a model once with a short question',
    description:
      'Sends one small request to the provider, which may charge for it. A refusal of the provider is a 200 with `ok: false`; a model without a key is 400.',
    scope: 'org:admin',
    params: org,
    body: TestModelInput,
    response: ModelTest,
  },
} as const satisfies Record<string, Endpoint>
