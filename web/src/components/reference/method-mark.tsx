const styles: Record<string, string> = {
  GET: 'text-accent',
  POST: 'text-ok',
  PUT: 'text-warn',
  PATCH: 'text-warn',
  DELETE: 'text-bad',
}

export const MethodMark = ({ method }: { method: string }) => (
  <span className={`w-11 shrink-0 font-mono font-semibold text-2xs ${styles[method] ?? 'text-muted'}`}>
    {method}
  </span>
)
