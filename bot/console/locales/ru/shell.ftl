skip = Перейти к содержимому
navigation = Страницы
open-navigation = Открыть список страниц
log-out = Выйти
whose = Чья память
everybody = Все
theme = Тема
theme-auto = Как в системе
theme-light = Светлая
theme-dark = Тёмная
language = Язык
help = Клавиатура
close = Закрыть
key-help = Этот список
key-search = Искать на странице
key-escape = Закрыть открытое
earlier = Показать более ранние
try-again = Попробовать ещё раз
nobody-title = Ещё никто не писал
nobody-text = Как только кто-нибудь напишет боту, здесь появится то, что он помнит.
nowhere-title = Такой страницы нет
nowhere-text = Возможно, в адресе опечатка. Все страницы доступны с первой:
trouble-down = Бот не отвечает
trouble-down-text = Может быть, он запускается или остановлен: «laplaced run» запускает его. Перезагрузите страницу, чтобы проверить.
trouble-gone = Здесь ничего нет
trouble-gone-text = Это удалено или принадлежит кому-то другому.
trouble-refused = В этом отказано
trouble-refused-text = Сервер объясняет почему:
seconds = { $count } с

login-title = Консоль
login-key = Ключ сервера
login-key-hint = Ключ лежит в файле server_api_key папки данных.
login-link-hint = Нет ключа? Отправьте боту /console и откройте ссылку из ответа.
login-enter = Войти
login-entering = Минутку…
login-wrong = Это не тот ключ.
login-link-spent = Эта ссылка уже использована или устарела. Отправьте боту /console, чтобы получить новую.
login-wait = Слишком много попыток. Подождите минуту и попробуйте снова.
login-down = Бот не отвечает. Он запущен?

page-control = Диспетчерская
page-calls = Вызовы моделей
calls-count = { $count ->
    [one] { $count } вызов за последние семь дней
    [few] { $count } вызова за последние семь дней
   *[other] { $count } вызовов за последние семь дней
}
calls-empty = Вызовов моделей ещё не было
calls-empty-text = Когда бот спрашивает модель, точный запрос и ответ видны здесь семь дней. Без модели вызовов нет.
call-failed = неудача
call-forgotten = Слова удалены, потому что что-то в них нужно было забыть.
call-reply = Ответ
call-tokens = { $prompt } → { $completion } токенов
role-system = Система
role-user = Пользователь
role-assistant = Ассистент
role-tool = Инструмент
agent-responder = Собеседник
agent-archivist = Архивариус
agent-analyst = Аналитик
agent-reranker = Отборщик
agent-enricher = Уточнитель
agent-task_manager = Распорядитель дел
agent-context_manager = Хранитель контекста
