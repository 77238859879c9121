import { visible } from '../text/visible.ts'
import { Input, Select } from '../ui/field.tsx'

export type Option<Value extends string = string> = [value: Value, text: string]

type ChoiceProps<Value extends string> = {
  label: string
  any: string
  value: Value | undefined
  options: Option<Value>[]
  on_choose: (value: Value | undefined) => void
}

/** A filter by one of several values. A value that is not among them, from an address, is shown as it is. */
export function Choice<Value extends string>({ label, any, value, options, on_choose }: ChoiceProps<Value>) {
  const known = value === undefined || options.some(([option]) => option === value)
  return (
    <Select
      aria-label={label}
      className="w-auto! max-w-32"
      value={value ?? ''}
      onChange={event => on_choose(options.find(([option]) => option === event.target.value)?.[0])}
    >
      <option value="">{any}</option>
      {!known && <option value={value}>{visible(value)}</option>}
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {visible(text)}
        </option>
      ))}
    </Select>
  )
}

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
