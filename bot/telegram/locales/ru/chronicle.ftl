# Разговоры: начатые, продолженные, законченные, списком.

session-begins = Новый разговор начнётся с твоего следующего сообщения.
session-goes-on = Продолжаем: «{ $topic }».
session-none = Сейчас разговор не идёт: следующее сообщение начнёт новый.
session-closed = Разговор закончен: «{ $topic }». Сейчас подведу итог; следующее сообщение начнёт новый.
session-closed-unjudged = Разговор закончен: «{ $topic }». Следующее сообщение начнёт новый.
session-closed-words = Текст после /ss я сообщением не считаю. Пришли его отдельно, если нужен ответ.
session-untitled = без темы
session-line = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic }
session-line-open = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic } (идёт сейчас)
session-caption = Наш разговор: { $topic }
sessions-title = Наши разговоры: { $count }. Нажми кнопку, чтобы увидеть разговор дословно.
sessions-nothing = Мы ещё не говорили.
