import { Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../ui/icon-button.tsx'
import { chooseTheme, chosenTheme, themes } from './theme.ts'

const icons = { system: Monitor, light: Sun, dark: Moon }

/** Goes through system, light, dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState(chosenTheme)
  const Icon = icons[theme]
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
  const choose = () => {
    setTheme(next)
    chooseTheme(next)
  }
  return (
    <IconButton label={`Theme: ${theme}. Change to ${next}`} onClick={choose}>
      <Icon className="size-4" />
    </IconButton>
  )
}
