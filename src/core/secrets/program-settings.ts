const SETTINGS = new Set(['CI', 'NODE_OPTIONS'])

/**
 * Returns whether a secret of this name is a setting of programs, which people set like a secret. Its value
 * may be short, and it is not redacted: source code and output contain such values, for example
 * `--max-old-space-size=4096`.
 */
export const isSetting = (name: string): boolean => SETTINGS.has(name)
