/** The logo of the service: a prompt. */
export const Brand = ({ size = 20 }: { size?: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" className="text-canvas">
    <rect width="32" height="32" rx="8" className="fill-ink" />
    <path
      d="M9 10.5 15 16l-6 5.5"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.8"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
    <path
      d="M17.5 21.5H23"
      className="stroke-[light-dark(#6ee7a0,#166f3b)]"
      strokeWidth="2.8"
      strokeLinecap="round"
    />
  </svg>
)
