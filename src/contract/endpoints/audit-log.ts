import { type Endpoint, org, v1 } from '../endpoint.ts'
import { AuditPage, AuditQuery } from '../organizations/audit-log.ts'

/** The audit log of an organization's administration (specification.md#access). */
export const auditEndpoints = {
  listAuditLog: {
    ...v1,
    tag: 'audit',
    method: 'GET',
    path: '/v1/organizations/{org_id}/audit-log',
    summary: 'List administrative actions, newest first',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    query: AuditQuery,
    response: AuditPage,
  },
} as const satisfies Record<string, Endpoint>
