greeting = Привет! Я { $persona }. Расскажи о людях из своей жизни: я запомню и напомню, когда спросишь.
how-are-you = Спасибо, всё хорошо! А у тебя как?
farewell = Пока! Пиши в любое время.
thanks = Пожалуйста!
abilities = Я { $persona } и помню людей за тебя. Рассказывай о них своими словами, а потом спрашивай: «Кто такой Петров?», «Кто мои друзья?» Все, кого я знаю, — в /people.
noted = Запомню: { $names }.
noted-known = Добавлю к тому, что знаю: { $names }.
forwarded = Вижу, переслано ({ $names }). Автора я запоминаю, если Telegram показывает его аккаунт; остальное о людях узнаю только с твоих слов, так что расскажи, кто здесь важен.
cannot-write = Без языковой модели я такого не напишу: я только повторяю то, что слышу от тебя.
heard = Понятно.
instructed = Хорошо, буду так делать. Всё, чего я держусь, — в /instructions.
lifted = Хорошо.
about = { $name } ({ $circle }). Из твоих рассказов: «{ $bio }»
about-empty = { $name } ({ $circle }). Пока знаю только имя.
before = До этого: { $older }
quoted = Из нашего разговора: «{ $said }»
fact = { $fact }
fact-since = { $fact } (с { $since })
fact-until = { $fact } (до { $until })
fact-since-until = { $fact } (с { $since } до { $until })
said-own = Твои слова от { $at }: «{ $text }»
amended = { $quotation } (с твоей поправкой)
and-quoted = { "» «" }
corrected = Поправил: «{ $said }»
said-by = { $name }, { $at }: «{ $text }»
in-picture = На картинке от { $at }: «{ $text }»
picture = На картинке: «{ $said }»
picture-unseen = Рассматривать картинки я не умею, а слов на этой не нашлось.
only-this = Знаю только вот что:
perhaps = Точно не знаю. Может быть, речь об этом:
circle-nobody = { $circle }: пока никого не знаю.
unknown = { $count ->
    [one] Пока ничего не знаю о человеке по имени { $names }.
   *[other] Пока ничего не знаю об этих людях: { $names }.
}
nothing = Об этом у меня ничего нет: я помню только то, что слышу от тебя.
offline = Сейчас я без языковой модели: отвечаю по правилам и только тем, что помню.
and = и
Family = Семья
Work_Inner = Близкие коллеги
Friends = Друзья
Work_Outer = Коллеги
Other = Остальные
remembered = Вот что я помню:
memory-due = { $text }, до { $due }
memory-status = { $status ->
    [active] впереди
    [achieved] достигнуто
    [abandoned] оставлено
    [open] пока без ответа
    [partial] отвечено отчасти
    [answered] ответ есть
    [liked] нравится
   *[disliked] не нравится
}
