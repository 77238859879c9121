import { Link, type LinkProps } from '@tanstack/react-router'

/**
 * `exact`: the addresses of other pages of the section begin with that of this one, so that they do not
 * belong to it.
 */
export type SectionLink = { name: string; link: LinkProps; exact?: true }

/** Scrolls the tab of the current page into view, where not all of them fit. */
const showCurrent = (list: HTMLElement | null) =>
  list?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

/** The pages of a section as tabs, each with its own address. */
export const SectionTabs = ({ label, items }: { label: string; items: SectionLink[] }) => (
  <nav aria-label={label} className="mb-5 border-line border-b">
    <ul ref={showCurrent} className="flex gap-5 overflow-x-auto">
      {items.map(({ name, link }) => (
        <li key={name} className="shrink-0">
          <Link
            {...link}
            activeOptions={{ exact: true, includeSearch: false }}
            className="-mb-px flex min-h-9 items-center border-transparent border-b-2 font-medium text-muted outline-offset-[-2px] hover:text-ink aria-[current=page]:border-ink aria-[current=page]:text-ink"
          >
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
)

/**
 * The pages of a section as a list at the side; on narrow screens as a row above the content. `relative`:
 * otherwise the hidden headings of that row make the page scroll sideways.
 */
export const SectionList = ({
  label,
  groups,
}: {
  label: string
  groups: { name: string; items: SectionLink[] }[]
}) => (
  <nav
    ref={showCurrent}
    aria-label={label}
    className="relative flex shrink-0 gap-1 overflow-x-auto border-line px-2 max-md:border-b max-md:py-1 md:w-48 md:flex-col md:border-r md:px-3 md:py-5"
  >
    {groups.map(({ name, items }) => (
      <div key={name} className="shrink-0 md:mb-4">
        <h2 className="px-2 pb-1 text-2xs text-faint max-md:sr-only">{name}</h2>
        <ul className="flex gap-1 md:flex-col md:gap-px">
          {items.map(item => (
            <li key={item.name} className="shrink-0">
              <Link
                {...item.link}
                activeOptions={{ exact: item.exact ?? false, includeSearch: false }}
                className="flex h-7 items-center rounded-md px-2 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink max-md:h-9"
              >
                {item.name}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    ))}
  </nav>
)
