reminder = 🔔 { $text }
reminder-late = 🔔 { $text } (it was due { $due })
said = Your words, { $day }: “{ $quote }”
together = 🔔 Several things at once:
line = { $text }
line-late = { $text } (due { $due })
together-settle = /tasks shows them all, to settle or put off.
