/** A decimal number of the database without the zeros behind it: `2.50` is `2.5`. */
export const plainDecimal = (value: string) => (value.includes('.') ? value.replace(/\.?0+$/, '') : value)
