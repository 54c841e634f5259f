skip = Перейти к содержимому
navigation = Страницы
open-navigation = Открыть меню
log-out = Выйти
log-out-everywhere = Выйти везде
log-out-everybody = Завершить все сеансы
whose = Чья память
everybody = Все
theme = Тема
theme-auto = Как в системе
theme-light = Светлая
theme-dark = Тёмная
language = Язык
help = Сочетания клавиш
close = Закрыть
key-help = Показать этот список
key-search = Искать на странице
key-escape = Закрыть открытое окно
earlier = Показать более ранние
try-again = Попробовать ещё раз
nobody-title = Ещё никто не писал
nobody-text = Как только кто-нибудь напишет боту, здесь появится то, что он запомнил.
nowhere-title = Страница не найдена
nowhere-text = Возможно, в адресе опечатка. Все страницы открываются с первой:
trouble-down = Бот не отвечает
trouble-down-text = Возможно, он ещё запускается или остановлен: его запускает команда «laplaced run». Обновите страницу, чтобы проверить.
trouble-gone = Здесь ничего нет
trouble-gone-text = Это удалено или принадлежит кому-то другому.
trouble-refused = Запрос отклонён
trouble-refused-text = Причина:
seconds = { $count } с

login-title = Консоль
login-key = Ключ сервера
login-key-hint = Ключ лежит в файле server_api_key в папке данных.
login-link-hint = Нет ключа? Отправьте боту /console и откройте ссылку из ответа.
login-enter = Войти
login-entering = Минутку…
login-wrong = Неверный ключ.
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
calls-empty-text = Когда бот обращается к модели, точный запрос и ответ видны здесь семь дней. Без модели вызовов нет.
call-failed = ошибка
call-forgotten = Текст удалён, потому что в нём было то, что нужно забыть.
call-reply = Ответ
call-tokens = { $prompt } → { $completion } токенов
role-system = Система
role-user = Пользователь
role-assistant = Ассистент
role-tool = Инструмент
agent-responder = Собеседник
agent-archivist = Архивариус
agent-analyst = Аналитик
agent-reranker = Ранжировщик
agent-enricher = Уточнитель запросов
agent-task_manager = Менеджер задач
agent-companion = Спутник
agent-context_manager = Менеджер контекста
