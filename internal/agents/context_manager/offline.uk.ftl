reminder = 🔔 { $text }
reminder-late = 🔔 { $text } (термін був { $due })
said = Твої слова, { $day }: «{ $quote }»
together = 🔔 Одразу про кілька справ:
line = { $text }
line-late = { $text } (термін { $due })
together-settle = /tasks покаже їх усі: можна позначити зробленим або відкласти.
