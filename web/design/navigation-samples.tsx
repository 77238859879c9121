import { useRef, useState } from 'react'
import { CheckList } from '../src/ui/check-list.tsx'
import { FilterBox } from '../src/ui/filter-box.tsx'
import { Meter } from '../src/ui/meter.tsx'
import { SectionTabs } from '../src/ui/section-nav.tsx'

const uses = [
  ['Cost this month', 0.32],
  ['Runs this month', 0.86],
  ['Runs at the same time', 1],
] as const

export const Limits = () => (
  <ul className="grid gap-6 sm:grid-cols-3">
    {uses.map(([name, share]) => (
      <li key={name}>
        {name} <span className="tabular text-faint">{Math.round(share * 100)} %</span>
        <Meter label={name} share={share} />
      </li>
    ))}
  </ul>
)

export function Choices() {
  const box = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState(['runs'])
  const options = [
    { value: 'runs', label: 'runs:read', hint: 'Sees runs and their traces' },
    { value: 'repos', label: 'repos:admin', hint: 'Changes repositories' },
  ]
  return (
    <div className="grid items-start gap-8 sm:grid-cols-2">
      <CheckList
        legend="Scopes"
        hint="What a token may do."
        options={options}
        chosen={chosen}
        on_change={setChosen}
      />
      <CheckList
        legend="Repositories"
        problem="Choose at least one"
        options={[{ value: 1, label: 'acme/shop' }]}
        chosen={[]}
        on_change={() => {}}
      />
      <FilterBox
        box={box}
        label="Filter the samples"
        placeholder="Title or prompt"
        value=""
        on_text={() => {}}
        className=""
      />
    </div>
  )
}

export const Navigation = () => (
  <SectionTabs
    label="Pages without a session"
    items={[
      { name: 'Design', link: { to: '/' } },
      { name: 'API reference', link: { to: '/docs' } },
      { name: 'Sign in', link: { to: '/sign-in' } },
    ]}
  />
)
