# Разговоры: начатые, продолженные, законченные, списком.

session-begins = Новый разговор начнётся с твоего следующего сообщения.
session-goes-on = Продолжаем: «{ $topic }».
session-none = Сейчас разговор не идёт: следующее сообщение начнёт новый.
session-closed = Разговор закончен: «{ $topic }». Сейчас подведу итог; следующее сообщение начнёт новый.
session-closed-unjudged = Разговор закончен: «{ $topic }». Следующее сообщение начнёт новый.
session-closed-words = Слова после /ss за сообщение не считаются. Пришли их отдельно, если нужен ответ.
session-untitled = без слов
session-line = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic }
session-line-open = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic } (идёт сейчас)
session-caption = Наш разговор: { $topic }
sessions-title = Наших разговоров: { $count }. Кнопка покажет один слово в слово.
sessions-nothing = Мы ещё не говорили.
