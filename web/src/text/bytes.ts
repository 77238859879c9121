const KIB = 1024

/** `113 B`, `1.5 KiB`. */
export function bytesText(count: number): string {
  if (count < KIB) return `${count} B`
  const [value, unit] =
    count < KIB ** 2
      ? [count / KIB, 'KiB']
      : count < KIB ** 3
        ? [count / KIB ** 2, 'MiB']
        : [count / KIB ** 3, 'GiB']
  return `${Number(value.toFixed(1))} ${unit}`
}
