greeting = Привіт! Я { $persona }. Розкажи про людей зі свого життя: я запам’ятаю і нагадаю, коли спитаєш.
how-are-you = Дякую, усе добре! А в тебе як?
farewell = Бувай! Пиши будь-коли.
thanks = Будь ласка!
abilities = Я { $persona } і пам’ятаю людей за тебе. Розповідай про них своїми словами, а потім питай: «Хто такий Петренко?», «Хто мої друзі?» Усі, кого я знаю, — у /people.
noted = Запам’ятаю: { $names }.
noted-known = Додам до того, що знаю: { $names }.
forwarded = Бачу, переслано ({ $names }). Автора я запам’ятовую, якщо Telegram показує його акаунт; решту про людей дізнаюся лише з твоїх слів, тож розкажи, хто тут важливий.
cannot-write = Без мовної моделі я такого не напишу: я лише повторюю те, що чую від тебе.
heard = Зрозуміло.
instructed = Гаразд, так і робитиму. Усе, чого я дотримуюся, — в /instructions.
lifted = Гаразд.
about = { $name } ({ $circle }). З твоїх розповідей: «{ $bio }»
about-empty = { $name } ({ $circle }). Поки знаю лише ім’я.
before = До цього: { $older }
quoted = З нашої розмови: «{ $said }»
fact = { $fact }
fact-since = { $fact } (з { $since })
fact-until = { $fact } (до { $until })
fact-since-until = { $fact } (з { $since } до { $until })
said-own = Твої слова від { $at }: «{ $text }»
amended = { $quotation } (з твоєю поправкою)
and-quoted = { "» «" }
corrected = Виправив: «{ $said }»
said-by = { $name }, { $at }: «{ $text }»
in-picture = На картинці від { $at }: «{ $text }»
picture = На картинці: «{ $said }»
picture-unseen = Розглядати картинки я не вмію, а слів на цій не знайшлося.
only-this = Знаю лише ось що:
perhaps = Точно не знаю. Можливо, йдеться про це:
circle-nobody = { $circle }: поки нікого не знаю.
unknown = { $count ->
    [one] Поки нічого не знаю про людину на ім’я { $names }.
   *[other] Поки нічого не знаю про цих людей: { $names }.
}
nothing = Про це в мене нічого немає: я пам’ятаю лише те, що чую від тебе.
offline = Зараз я без мовної моделі: відповідаю за правилами і лише тим, що пам’ятаю.
and = і
Family = Родина
Work_Inner = Близькі колеги
Friends = Друзі
Work_Outer = Колеги
Other = Інші
remembered = Ось що я пам’ятаю:
memory-due = { $text }, до { $due }
memory-status = { $status ->
    [active] попереду
    [achieved] досягнуто
    [abandoned] залишено
    [open] поки без відповіді
    [partial] відповідь лише часткова
    [answered] відповідь є
    [liked] подобається
   *[disliked] не подобається
}
