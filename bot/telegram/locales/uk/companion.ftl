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
