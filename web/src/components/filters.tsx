import { useQuery } from '@tanstack/react-query'
import { repositoriesQuery } from '../api/queries.ts'
import { visible } from '../text/visible.ts'
import { Input, Select } from '../ui/field.tsx'

export type Option<Value extends string | number = string> = [value: Value, text: string]

type FilterProps<Value extends string | number> = {
  label: string
  any: string
  value: Value | undefined
  options: Option<Value>[]
  /** Has the width of its longest value: for the first line of the page, which does not wrap. */
  wide?: boolean
  on_choose: (value: Value | undefined) => void
}

/**
 * A filter by one of several values. A value that is not among them, from an address, is shown as it is. Its
 * width does not depend on the values, which may arrive later and would move what is below.
 */
export function FilterSelect<Value extends string | number>({
  label,
  any,
  value,
  options,
  wide = false,
  on_choose,
}: FilterProps<Value>) {
  const known = value === undefined || options.some(([option]) => option === value)
  return (
    <Select
      aria-label={label}
      className={wide ? 'w-auto! max-w-56' : 'w-32!'}
      value={value ?? ''}
      onChange={event => on_choose(options.find(([option]) => String(option) === event.target.value)?.[0])}
    >
      <option value="">{any}</option>
      {!known && <option value={value}>{visible(String(value))}</option>}
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {visible(text)}
        </option>
      ))}
    </Select>
  )
}

/** A filter by repository. */
export function RepositoryFilter({ value, on_choose }: Pick<FilterProps<number>, 'value' | 'on_choose'>) {
  const { data } = useQuery(repositoriesQuery)
  const loading: Option<number>[] = value === undefined ? [] : [[value, '…']]
  const options = data?.map(({ id, full_name }): Option<number> => [id, full_name]) ?? loading
  return (
    <FilterSelect
      label="Repository"
      any="Any repository"
      wide
      value={value}
      options={options}
      on_choose={on_choose}
    />
  )
}

/** Options that are shown by their names. */
export const sameNames = <Value extends string>(values: readonly Value[]) =>
  values.map((value): Option<Value> => [value, value])

/** Options with the names that people know them by. */
export const named = <Value extends string>(names: Record<Value, string>) =>
  Object.entries(names) as Option<Value>[]

type DayProps = {
  label: string
  value: string | undefined
  min?: string | undefined
  max?: string | undefined
  on_change: (day: string | undefined) => void
}

/** A filter by a day, `YYYY-MM-DD`. */
export const Day = ({ label, value, on_change, ...bounds }: DayProps) => (
  <Input
    {...bounds}
    type="date"
    aria-label={label}
    className="w-34!"
    value={value ?? ''}
    onChange={event => on_change(event.target.value || undefined)}
  />
)
