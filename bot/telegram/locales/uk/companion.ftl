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
occasion-gifts = Про подарунки ти казав: { $list }.
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
