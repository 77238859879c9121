import { sameNames } from '../../components/filters.tsx'
import { SelectField } from '../../components/form/api-form.tsx'
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

export const RoleField = (field: Props) => (
  <SelectField
    {...field}
    label="Role"
    hint={`${field.value} ${roles[field.value]}`}
    options={sameNames(role_names)}
  />
)
