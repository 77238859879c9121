import { TextField } from '../../form/api-form.tsx'

type Props = {
  value: string
  on_change: (prefix: string) => void
  problem: string | undefined
  otherwise: string
}

/** Beginning of the names of branches of runs. Empty: `otherwise`. */
export const BranchPrefixField = ({ value, on_change, problem, otherwise }: Props) => (
  <TextField
    label="Branch prefix"
    hint={`For a server that accepts only some names, such as feature/. Empty: ${otherwise}.`}
    problem={problem}
    mono
    value={value}
    on_change={on_change}
  />
)
