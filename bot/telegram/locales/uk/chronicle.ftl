# Розмови: почато, продовжено, закінчено, списком.

session-begins = Нова розмова почнеться з твого наступного повідомлення.
session-goes-on = Продовжуємо: «{ $topic }».
session-none = Зараз розмова не йде: наступне повідомлення почне нову.
session-closed = Розмову закінчено: «{ $topic }». Зараз підіб’ю підсумок; наступне повідомлення почне нову.
session-closed-unjudged = Розмову закінчено: «{ $topic }». Наступне повідомлення почне нову.
session-closed-words = Слова після /ss повідомленням не вважаються. Надішли їх окремо, якщо потрібна відповідь.
session-untitled = без слів
session-line = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic }
session-line-open = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic } (триває)
session-caption = Наша розмова: { $topic }
sessions-title = Наших розмов: { $count }. Кнопка покаже одну слово в слово.
sessions-nothing = Ми ще не говорили.
