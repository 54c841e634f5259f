# Дати, день, «тримати зв'язок».

occasion-week = 📅 { $when }: { $what }.
occasion-day = 🎉 Сьогодні: { $what }.
occasion-day-memorial = 🕯 Сьогодні: { $what }.
occasion-years = { $what }, { $years ->
    [one] { $years } рік
    [few] { $years } роки
   *[other] { $years } років
}
occasion-likes = Що я знаю про смаки: { $list }.
occasion-gifts = Про подарунки було сказано: { $list }.
birthdays-title = Дні народження та інші дати на рік уперед:
birthdays-none = Поки не знаю жодного дня народження. Скажи між іншим, наприклад «у Маші день народження 5 травня».
birthdays-button-file = Файлом
birthdays-button-link = Посилання для календаря
birthdays-button-revoke = Закрити посилання
birthdays-caption = Дні народження та інші дати, для будь-якого календаря.
birthdays-link = Підпишися на цю адресу у своєму календарі. Вона секретна: хто її має, той бачить ці дати. Нове посилання закриває попереднє.

    { $url }
birthdays-revoked = Посилання закрито.
menu-birthdays = Дні народження та інші дати
nudge = 💬 Мабуть, час: { $title }.
nudge-person = 💬 Мабуть, час: { $title }. Наприклад, { $name }.
nudge-last = Минулого разу, { $when }: «{ $quote }».
nudge-open = Лишилося відкритим: { $list }.
rhythm-button = Тримати зв'язок
rhythm-ask = Як часто хочеш бути на зв'язку: { $name }? Нагадаю м'яко і промовчу, якщо розкажеш, що ви бачилися чи говорили.
rhythm-week = Раз на тиждень
rhythm-fortnight = Раз на два тижні
rhythm-month = Раз на місяць
rhythm-title = Бути на зв'язку: { $name }
agenda-today = **Сьогодні, { $day }**
agenda-week = **Тиждень з { $day }**
agenda-nothing = Нічого не заплановано. Вільний день!
agenda-tasks = Справи
agenda-occasions = Дати
agenda-promises = Твої обіцянки
agenda-waiting = Ти чекаєш
agenda-contacts = Дати про себе знати
agenda-questions = Відкриті питання
brief-button = Перед зустріччю: { $name }
brief-ask = З ким зустріч? Надішли ім'я, наприклад /brief Аня.
brief-about = **{ $name }** · { $circle }, у пам'яті з { $since }
brief-facts = Що я знаю
brief-people = Люди поруч
brief-talks = Нещодавні розповіді
brief-open = Лишилося відкритим
brief-occasions = Дати
brief-questions = Про що спитати
brief-ask-waiting = Ти досі чекаєш: { $what }
brief-ask-occasion = Як минуло: { $what }, { $when }?
brief-ask-talk = Чим закінчилося: «{ $what }» ({ $when })?
brief-receipts = Номери відкривають джерела.
digest-set = Добре: щоранку о { $at } огляд дня. /digest off його вимкне.
digest-off = Ранкових оглядів більше не буде.
digest-ask = Ранковий огляд: { $at } (інша година: /digest 8:30)
digest-none = вимкнено
menu-today = Що сьогодні
menu-week = Що цього тижня
menu-brief = Що знати перед зустріччю: /brief Аня
menu-digest = Огляд щоранку
brief-button-unnamed = Перед зустріччю
reflections-title = Що помітно останнім часом
reflections-way-out = /week off — більше не писати щонеділі.
reflections-off = Більше не писатиму щонеділі про те, що помітно. Повернути: /week on, подивитися: /week.
reflections-on = Щонеділі писатиму, що помітно за останні тижні. /week off вимкне.
reflections-dismissed = Прибрав
reflections-none = Більше поки нічого не помітно.
reflection-met = { $subject }: ви були на зв'язку { $count ->
    [one] { $count } день
    [few] { $count } дні
   *[other] { $count } днів
} з останніх 30.
reflection-quiet = { $subject }: { $last } — остання розповідь про зустріч чи розмову. За два місяці до того — { $count ->
    [one] { $count } день
    [few] { $count } дні
   *[other] { $count } днів
}.
reflection-matter = { $count ->
    [one] { $count } людина говорила
    [few] { $count } людини говорили
   *[other] { $count } людей говорили
} про «{ $subject }»: { $names }.
reflection-change = Змінилося: { $subject }. Раніше: { $before }.
reflection-new = Нове ім'я у твоїх розповідях: { $subject }, { $count ->
    [one] { $count } день
    [few] { $count } дні
   *[other] { $count } днів
}.
