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
occasion-gifts = О подарках ты говорил: { $list }.
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
