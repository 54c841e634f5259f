reminder = 🔔 { $text }
reminder-late = 🔔 { $text } (термін був { $due })
together = 🔔 Одразу про кілька справ:
line = { $text }
line-late = { $text } (термін { $due })
together-settle = /tasks покаже їх усі: можна позначити зробленим або відкласти.
