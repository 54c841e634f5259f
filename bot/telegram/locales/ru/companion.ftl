# Даты, день, «держать связь».

occasion-week = 📅 { $when }: { $what }.
occasion-day = 🎉 Сегодня: { $what }.
occasion-day-memorial = 🕯 Сегодня: { $what }.
occasion-years = { $what }, { $years ->
    [one] { $years } год
    [few] { $years } года
   *[other] { $years } лет
}
occasion-likes = Что я знаю о вкусах: { $list }.
occasion-gifts = О подарках было сказано: { $list }.
birthdays-title = Дни рождения и другие даты на год вперёд:
birthdays-none = Пока не знаю ни одного дня рождения. Скажи между делом, например «у Маши день рождения 5 мая».
birthdays-button-file = Файлом
birthdays-button-link = Ссылка для календаря
birthdays-button-revoke = Закрыть ссылку
birthdays-caption = Дни рождения и другие даты, для любого календаря.
birthdays-link = Подпишись на этот адрес в своём календаре. Он секретный: у кого он есть, тот видит эти даты. Новая ссылка закрывает прежнюю.

    { $url }
birthdays-revoked = Ссылка закрыта.
menu-birthdays = Дни рождения и другие даты
nudge = 💬 Кажется, пора: { $title }.
nudge-person = 💬 Кажется, пора: { $title }. Например, { $name }.
nudge-last = В прошлый раз, { $when }: «{ $quote }».
nudge-open = Осталось открытым: { $list }.
rhythm-button = Держать связь
rhythm-ask = Как часто хочешь быть на связи: { $name }? Напомню мягко и промолчу, если расскажешь, что вы виделись или говорили.
rhythm-week = Раз в неделю
rhythm-fortnight = Раз в две недели
rhythm-month = Раз в месяц
rhythm-title = Быть на связи: { $name }
agenda-today = **Сегодня, { $day }**
agenda-week = **Неделя с { $day }**
agenda-nothing = Ничего не запланировано. Свободный день!
agenda-tasks = Дела
agenda-occasions = Даты
agenda-promises = Твои обещания
agenda-waiting = Ты ждёшь
agenda-contacts = Дать о себе знать
agenda-questions = Открытые вопросы
brief-button = Перед встречей: { $name }
brief-ask = С кем встреча? Пришли имя, например /brief Аня.
brief-about = **{ $name }** · { $circle }, в памяти с { $since }
brief-facts = Что я знаю
brief-people = Люди рядом
brief-talks = Недавние рассказы
brief-open = Осталось открытым
brief-occasions = Даты
brief-questions = О чём спросить
brief-ask-waiting = Ты всё ещё ждёшь: { $what }
brief-ask-occasion = Как прошло: { $what }, { $when }?
brief-ask-talk = Чем кончилось: «{ $what }» ({ $when })?
brief-receipts = Номера открывают источники.
digest-set = Хорошо: каждое утро в { $at } сводка дня. /digest off её отключит.
digest-off = Утренних сводок больше не будет.
digest-ask = Утренняя сводка: { $at } (другой час: /digest 8:30)
digest-none = выключена
menu-today = Что сегодня
menu-week = Что на неделе
menu-brief = Что знать перед встречей: /brief Аня
menu-digest = Сводка каждое утро
brief-button-unnamed = Перед встречей
reflections-title = Что заметно в последнее время
reflections-way-out = /week off — больше не писать по воскресеньям.
reflections-off = Больше не буду писать по воскресеньям о том, что заметно. Вернуть: /week on, посмотреть: /week.
reflections-on = По воскресеньям буду писать, что заметно за последние недели. /week off отключит.
reflections-dismissed = Убрал
reflections-none = Больше пока ничего не заметно.
reflection-met = { $subject }: вы были на связи { $count ->
    [one] { $count } день
    [few] { $count } дня
   *[other] { $count } дней
} из последних 30.
reflection-quiet = { $subject }: { $last } — последний рассказ о встрече или разговоре. За два месяца до того — { $count ->
    [one] { $count } день
    [few] { $count } дня
   *[other] { $count } дней
}.
reflection-matter = { $count ->
    [one] { $count } человек говорил
    [few] { $count } человека говорили
   *[other] { $count } человек говорили
} про «{ $subject }»: { $names }.
reflection-change = Изменилось: { $subject }. Раньше: { $before }.
reflection-new = Новое имя в твоих рассказах: { $subject }, { $count ->
    [one] { $count } день
    [few] { $count } дня
   *[other] { $count } дней
}.
