# Розмови: почато, продовжено, закінчено, списком.

session-begins = Нова розмова почнеться з твого наступного повідомлення.
session-goes-on = Продовжуємо: «{ $topic }».
session-none = Зараз розмови немає: наступне повідомлення почне нову.
session-closed = Розмову закінчено: «{ $topic }». Зараз підіб’ю підсумок; наступне повідомлення почне нову.
session-closed-unjudged = Розмову закінчено: «{ $topic }». Наступне повідомлення почне нову.
session-closed-words = Текст після /ss я повідомленням не вважаю. Надішли його окремо, якщо потрібна відповідь.
session-untitled = без теми
session-line = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic }
session-line-open = { DATETIME($at, dateStyle: "medium", timeStyle: "short") } — { $topic } (триває)
session-caption = Наша розмова: { $topic }
sessions-title = Наші розмови: { $count }. Натисни кнопку, щоб побачити розмову дослівно.
sessions-nothing = Ми ще не говорили.
