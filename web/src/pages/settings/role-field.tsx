import { Field, Select } from '../../ui/field.tsx'
import type { Role } from './people.ts'

/** What each role permits, in one sentence (docs/reference/roles-and-scopes.md). */
const roles: Record<Role, string> = {
  ADMIN: 'changes everything, also members, keys and budgets.',
  MANAGER: 'starts runs and changes repositories.',
  MEMBER: 'starts and steers runs.',
  READER: 'only views.',
}
const role_names = Object.keys(roles) as Role[]

type Props = { value: Role; on_change: (role: Role) => void; problem: string | undefined }

export const RoleField = ({ value, on_change, problem }: Props) => (
  <Field label="Role" hint={`${value} ${roles[value]}`} problem={problem}>
    {props => (
      <Select
        {...props}
        value={value}
        onChange={event => on_change(role_names.find(role => role === event.target.value) ?? value)}
      >
        {role_names.map(role => (
          <option key={role}>{role}</option>
        ))}
      </Select>
    )}
  </Field>
)
