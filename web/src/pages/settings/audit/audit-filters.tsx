import { useQuery } from '@tanstack/react-query'
import { audit_actions } from '../../../../../src/contract/organizations/audit-actions.ts'
import { Day, FilterSelect, type Option, sameNames } from '../../../components/filters.tsx'
import type { AuditSearch } from '../../../search-params.ts'
import { memberName, membersQuery } from '../people.ts'

const actions = sameNames<string>(audit_actions)

type Props = { search: AuditSearch; change: (next: AuditSearch) => void }

/** The filters of the audit log. They are part of the address. */
export function AuditFilters({ search: { user, action, from, to }, change }: Props) {
  const members = useQuery(membersQuery).data ?? []
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterSelect
        label="Person"
        any="Anyone"
        value={user}
        options={members.map((member): Option<number> => [member.user_id, memberName(member)])}
        on_choose={id => change({ user: id })}
      />
      <FilterSelect
        label="Action"
        any="Any action"
        value={action}
        options={actions}
        on_choose={name => change({ action: name })}
      />
      <span className="flex items-center gap-1.5 text-muted text-xs">
        <span aria-hidden>From</span>
        <Day label="First day" value={from} max={to} on_change={day => change({ from: day })} />
        <span aria-hidden>to</span>
        <Day label="Last day" value={to} min={from} on_change={day => change({ to: day })} />
      </span>
    </search>
  )
}
