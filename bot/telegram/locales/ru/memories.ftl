# Цели, решения, вопросы, предпочтения, воспоминания: списки, карточка; о чём бот спрашивает сам.

memories-title-goals = **Твои цели** — впереди { $count }
memories-title-goals-past = **Прежние цели** — { $count }
memories-title-decisions = **Твои решения** — { $count }
memories-title-questions = **Вопросы без ответа** — { $count }
memories-title-questions-past = **Решённые вопросы** — { $count }
memories-title-preferences = **Что тебе по душе и что нет** — { $count }
memories-title-memories = **Что я запомнил** — { $count }, последнее сверху
memories-none-goals = Целей сейчас нет. Расскажешь, чего хочешь добиться, — запомню.
memories-none-decisions = Решений пока нет. Расскажешь, что решено и почему, — запомню.
memories-none-questions = Открытых вопросов нет.
memories-none-preferences = О твоих вкусах и привычках я пока ничего не знаю.
memories-none-memories = Пока ничего не запомнил. Чем больше расскажешь, тем больше тут будет.
memories-found = По словам «{ $text }» нашлось:
memories-not-found = По словам «{ $text }» здесь ничего нет.
memories-button-past = Что уже позади: { $count }
memories-button-current = Что сейчас: { $count }

memory-kind = { $kind ->
    [Goal] цель
    [Decision] решение
    [Question] вопрос
    [Preference] предпочтение
    [Context] обстоятельства
    [Contradiction] противоречие
   *[Memory] воспоминание
}
memory-status = { $status ->
    [active] впереди
    [achieved] достигнуто
    [abandoned] оставлено
    [open] без ответа
    [partial] отвечено отчасти
    [answered] решено
    [liked] нравится
    [disliked] не нравится
    [completed] закончено
    [archived] в архиве
    [unresolved] не решено
    [accepted] верно и то и другое
   *[resolved] решено
}
memory-due = до { DATETIME($at, dateStyle: "long") }
memory-answered-at = ответ { DATETIME($at, dateStyle: "long") }
memory-told = { DATETIME($at, dateStyle: "long") }
memory-rationale = Почему: { $text }
memory-outcome = Что вышло: { $text }
memory-category = О чём: { $text }
memory-resolution = Чем кончилось: { $text }
memory-observed = Замечено не раз: { $count }
memory-superseded = Это больше не считается верным: так решено тобой.
memory-button-reached = Достигнуто
memory-button-given-up = Больше не цель
memory-button-answered = Решено
memory-button-reopen = Снова открыть
memory-now-achieved = Поздравляю!
memory-now-abandoned = Хорошо, больше не цель.
memory-now-answered = Хорошо, вопрос закрыт.
memory-now-active = Снова в списке.
memory-now-open = Снова в списке.

forget-memory-confirm = Забыть это? «{ $text }» Сообщения останутся в переписке, но обратно сюда они это не вернут.
forget-memory-done = Забываю. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.

ask-contradiction = Две мои записи не сходятся. Что верно?
ask-question = Остался вопрос без ответа: «{ $text }» ({ DATETIME($at, dateStyle: "long") }). Он решён?
ask-fading = Это давно не пригождалось. Забыть или оставить?
ask-suggestion = Тобой записано: «{ $current }». А теперь говорится: «{ $value }». Это о записи «{ $text }». Изменить?
ask-button-answered = Да, решён
ask-button-open = Ещё открыт
ask-button-forget = Забыть { $n }
ask-button-keep = Оставить
ask-button-never = Больше не спрашивать
ask-answered = Хорошо, вопрос закрыт. Напиши, каким вышел ответ, и я запомню и его.
ask-open = Хорошо, пусть остаётся открытым.
ask-kept = Хорошо, остаётся.
ask-never = Хорошо, об этом больше не спрошу.
ask-held = Хорошо, дальше опираюсь на это.
suggestion-applied-memory = Хорошо, записано по-новому.
ask-both = Хорошо, пусть стоит и то и другое.
ask-gone = Этот вопрос уже отпал: с тех пор что-то изменилось.
ask-forgetting = Забываю { $n }. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.
