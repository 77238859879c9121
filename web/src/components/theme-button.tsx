import { Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../ui/icon-button.tsx'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const icons = { system: Monitor, light: Sun, dark: Moon }

const chosen = (): Theme => themes.find(theme => theme === document.documentElement.dataset.theme) ?? 'system'

/** Goes through system, light, dark. theme-1.js applies the choice before the next first paint. */
export function ThemeButton() {
  const [theme, setTheme] = useState(chosen)
  const Icon = icons[theme]
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
  const choose = () => {
    setTheme(next)
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    try {
      localStorage.setItem('theme', next)
    } catch {
      // Storage is switched off: the choice lasts as long as the page.
    }
  }
  return (
    <IconButton label={`Theme: ${theme}. Change to ${next}`} onClick={choose}>
      <Icon className="size-4" />
    </IconButton>
  )
}
