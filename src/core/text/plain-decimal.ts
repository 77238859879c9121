/** Returns a decimal number of the database without trailing zeros: `2.50` is `2.5`. */
export const plainDecimal = (value: string) =>
  value.includes('.') ? value.replace(/\.?(?<!0)0+$/, '') : value
