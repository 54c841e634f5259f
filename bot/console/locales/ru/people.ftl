page-people = Люди
circle-Family = Семья
circle-Work_Inner = Близкие коллеги
circle-Friends = Друзья
circle-Work_Outer = Коллеги
circle-Other = Остальные
people-empty = Людей пока нет
people-empty-text = Расскажите боту о ком-нибудь, и он появится здесь: «Мария — моя сестра, она живёт во Львове». Контакты и пересланные сообщения тоже считаются.
people-search = Найти человека
people-filter = Круги
people-drawing = Люди вокруг вас, самые близкие внутри
people-closer = Приблизить
people-farther = Отдалить
people-whole = Показать всех
people-circles = Все люди
people-map-none = Связи пока неизвестны. Скажите, кто кому кем приходится: «моя сестра Маша».
people-map = Кто кому кем приходится
people-list = Люди списком
people-looking = Поиск…
people-nobody = Никого не найдено. Попробуйте другое имя или то, что известно о человеке.
people-found = Найдено: { $count }
people-count = { $count ->
    [one] { $count } человек
    [few] { $count } человека
   *[other] { $count } человек
}
people-most = Показаны { $shown } самых упоминаемых из { $count }; поиск идёт по всем
people-mentions = { $count ->
    [one] { $count } упоминание
    [few] { $count } упоминания
   *[other] { $count } упоминаний
}
people-seen = последний раз { $at }
people-all = Все люди
people-first-seen = Впервые
people-last-seen = Последний раз
people-mentioned = Упоминания
people-telegram = Telegram
people-about = О человеке
people-no-bio = Об этом человеке пока ничего не записано.
people-aliases = Также зовут
people-by-owner = задано вручную
people-edit = Изменить
people-merge = Объединить
people-forget = Забыть
people-forget-title = Забыть навсегда? { $name }
people-forget-text = Исчезнут профиль и все факты, воспоминания, задачи и записи, где назван этот человек. { $count ->
    [0] Сообщений об этом человеке нет.
    [1] Одно сообщение о нём останется: его можно найти и выгрузить, но ответы его не цитируют. Можно стереть и его.
   *[other] Сообщения об этом человеке ({ $count }) останутся: их можно найти и выгрузить, но ответы их не цитируют. Можно стереть и их.
} В резервных копиях всё это может храниться ещё { $days } { $days ->
    [one] день
    [few] дня
   *[other] дней
}. Отменить это нельзя.
people-forget-about = { $count ->
    [1] Забыть и сообщение
   *[other] Забыть и сообщения: { $count }
}
people-in-graph = В графе
people-facts = Факты во времени
people-facts-none = Фактов пока нет
people-facts-none-text = Факты берутся из того, что вы рассказываете боту об этом человеке; упоминания — ниже.
people-fact-now = верно сейчас
people-fact-ended = больше не верно
people-fact-corrected = исправлено
people-fact-unknown = дата начала неизвестна
people-fact-since = с { $from }
people-fact-until = до { $until }
people-fact-span = { $from } – { $until }
people-why = Причина: { $reason }
people-before = Раньше: { $words }
people-sources = Откуда это
people-no-sources = Задано вручную: ни в одном сообщении этого нет.
people-open-message = Открыть сообщение
people-open-source = Открыть источник
people-forwarded = переслано от { $name }
people-talks = Упоминания
people-talks-none = Ни один разговор пока не упоминает этого человека.
people-by-month = Упоминания по месяцам
people-month = { $month }: { $count }
people-no-lines = Точные строки не отмечены; откройте разговор целиком.
people-whole-talk = Прочитать разговор целиком
people-merged = Объединены в этот профиль
people-merged-text = После разделения у каждого снова будет свой профиль со своими фактами и упоминаниями.
people-merged-at = объединено { $at }
people-split = Разделить
people-split-title = Отделить { $name }?
people-split-text = { $name }: снова будет отдельный профиль с фактами и упоминаниями, которые пришли из него. Это можно отменить.
people-split-done = { $name } — снова отдельный профиль.
people-edit-title = Изменить профиль
people-edit-text = То, что вы задали сами, бот больше не меняет.
people-name = Имя
people-aliases-hint = Имена через запятую. Убранное имя бот больше не запомнит.
people-username = Имя пользователя Telegram
people-circle = Круг
people-bio = О человеке
people-save = Сохранить
people-cancel = Отмена
people-saved = Сохранено.
people-merge-title = С кем объединить: { $name }?
people-merge-find = Имя второго человека
people-merge-none = Никого с таким именем.
people-merge-choose = Кто-то другой
people-merge-confirm = Сделать { $source } частью профиля { $target }?
people-merge-text = Факты, упоминания и имена профиля { $source } перейдут в профиль { $target }. Это можно отменить и позже.
people-merge-swap = Наоборот
people-merge-part = станет частью
people-merge-done = { $source } теперь часть профиля { $target }.
people-undo = Отменить
people-undone = Отменено.
