export const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

export const isTheme = (value: string): value is Theme => themes.some(theme => theme === value)

export const chosenTheme = (): Theme =>
  themes.find(theme => theme === document.documentElement.dataset.theme) ?? 'system'

/** Applies a theme and keeps the choice: theme-1.js applies it before the next first paint. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem('theme', theme)
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}
