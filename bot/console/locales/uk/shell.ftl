skip = Перейти до вмісту
navigation = Сторінки
open-navigation = Відкрити меню
log-out = Вийти
log-out-everywhere = Вийти всюди
log-out-everybody = Завершити всі сеанси
whose = Чия пам’ять
everybody = Усі
theme = Тема
theme-auto = Як у системі
theme-light = Світла
theme-dark = Темна
language = Мова
help = Сполучення клавіш
close = Закрити
key-help = Показати цей перелік
key-search = Шукати на сторінці
key-escape = Закрити відкрите вікно
earlier = Показати раніші
try-again = Спробувати ще раз
nobody-title = Ще ніхто не писав
nobody-text = Щойно хтось напише боту, тут з’явиться те, що він запам’ятав.
nowhere-title = Сторінку не знайдено
nowhere-text = Можливо, в адресі помилка. Усі сторінки відкриваються з першої:
trouble-down = Бот не відповідає
trouble-down-text = Можливо, він ще запускається або його зупинено: його запускає команда «laplaced run». Оновіть сторінку, щоб перевірити.
trouble-gone = Тут нічого немає
trouble-gone-text = Це видалено, або воно належить комусь іншому.
trouble-refused = Запит відхилено
trouble-refused-text = Причина:
seconds = { $count } с

login-title = Консоль
login-key = Ключ сервера
login-key-hint = Ключ лежить у файлі server_api_key у теці даних.
login-link-hint = Немає ключа? Надішліть боту /console і відкрийте посилання з відповіді.
login-enter = Увійти
login-entering = Хвилинку…
login-wrong = Неправильний ключ.
login-link-spent = Це посилання вже використано, або воно застаріло. Надішліть боту /console, щоб отримати нове.
login-wait = Забагато спроб. Зачекайте хвилину й спробуйте знову.
login-down = Бот не відповідає. Чи його запущено?

page-control = Диспетчерська
page-calls = Виклики моделей
calls-count = { $count ->
    [one] { $count } виклик за останні сім днів
    [few] { $count } виклики за останні сім днів
   *[other] { $count } викликів за останні сім днів
}
calls-empty = Викликів моделей ще не було
calls-empty-text = Коли бот звертається до моделі, точний запит і відповідь видно тут сім днів. Без моделі викликів немає.
call-failed = помилка
call-forgotten = Текст видалено, бо в ньому було те, що треба забути.
call-reply = Відповідь
call-tokens = { $prompt } → { $completion } токенів
role-system = Система
role-user = Користувач
role-assistant = Асистент
role-tool = Інструмент
agent-responder = Співрозмовник
agent-archivist = Архіваріус
agent-analyst = Аналітик
agent-reranker = Ранжувальник
agent-enricher = Уточнювач запитів
agent-task_manager = Менеджер завдань
agent-companion = Супутник
agent-context_manager = Менеджер контексту
