skip = Перейти до вмісту
navigation = Сторінки
open-navigation = Відкрити перелік сторінок
log-out = Вийти
whose = Чия пам’ять
everybody = Усі
theme = Тема
theme-auto = Як у системі
theme-light = Світла
theme-dark = Темна
language = Мова
help = Клавіатура
close = Закрити
key-help = Цей перелік
key-search = Шукати на сторінці
key-escape = Закрити відкрите
earlier = Показати раніші
try-again = Спробувати ще раз
nobody-title = Ще ніхто не писав
nobody-text = Щойно хтось напише боту, тут з’явиться те, що він пам’ятає.
nowhere-title = Такої сторінки немає
nowhere-text = Можливо, в адресі помилка. До всіх сторінок можна перейти з першої:
trouble-down = Бот не відповідає
trouble-down-text = Може, він запускається або його зупинено: «laplaced run» запускає його. Перезавантажте сторінку, щоб перевірити.
trouble-gone = Тут нічого немає
trouble-gone-text = Це вилучено, або воно належить комусь іншому.
trouble-refused = У цьому відмовлено
trouble-refused-text = Сервер пояснює чому:
seconds = { $count } с

login-title = Консоль
login-key = Ключ сервера
login-key-hint = Ключ лежить у файлі server_api_key теки даних.
login-link-hint = Немає ключа? Надішліть боту /console і відкрийте посилання з відповіді.
login-enter = Увійти
login-entering = Хвилинку…
login-wrong = Це не той ключ.
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
calls-empty-text = Коли бот питає модель, точний запит і відповідь видно тут сім днів. Без моделі викликів немає.
call-failed = невдача
call-forgotten = Слова вилучено, бо щось у них мало бути забуте.
call-reply = Відповідь
call-tokens = { $prompt } → { $completion } токенів
role-system = Система
role-user = Користувач
role-assistant = Асистент
role-tool = Інструмент
agent-responder = Співрозмовник
agent-archivist = Архіваріус
agent-analyst = Аналітик
agent-reranker = Відбирач
agent-enricher = Уточнювач
agent-task_manager = Розпорядник справ
agent-context_manager = Хранитель контексту
