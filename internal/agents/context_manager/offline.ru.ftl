reminder = 🔔 { $text }
reminder-late = 🔔 { $text } (срок был { $due })
said = Твои слова, { $day }: «{ $quote }»
together = 🔔 Сразу о нескольких делах:
line = { $text }
line-late = { $text } (срок { $due })
together-settle = /tasks покажет их все: можно отметить сделанным или отложить.
