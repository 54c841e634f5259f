# Цели, решения, вопросы, предпочтения, воспоминания: списки, карточка; о чём бот спрашивает сам.

memories-title-goals = **Твои цели** — впереди { $count }
memories-title-goals-past = **Прошлые цели** — { $count }
memories-title-decisions = **Твои решения** — { $count }
memories-title-questions = **Вопросы без ответа** — { $count }
memories-title-questions-past = **Решённые вопросы** — { $count }
memories-title-preferences = **Что тебе нравится и что нет** — { $count }
memories-title-instructions = **Чего я держусь всегда** — { $count }
memories-title-instructions-past = **Что больше не действует** — { $count }
memories-title-memories = **Что я запомнил** — { $count }, сначала новое
memories-none-goals = Целей сейчас нет. Расскажешь, чего хочешь добиться, — запомню.
memories-none-decisions = Решений пока нет. Расскажешь, что решено и почему, — запомню.
memories-none-questions = Открытых вопросов нет.
memories-none-preferences = О твоих вкусах и привычках я пока ничего не знаю.
memories-none-instructions = Постоянных указаний нет. Скажи, как отвечать, например «Всегда отвечай коротко» или «Никогда не ставь встречи до десяти», и я буду так делать.
memories-none-memories = Пока мне нечего вспомнить. Чем больше расскажешь, тем больше тут будет.
memories-found = По запросу «{ $text }» нашлось:
memories-not-found = По запросу «{ $text }» здесь ничего нет.
memories-button-past = Прежние: { $count }
memories-button-current = Нынешние: { $count }

memory-kind = { $kind ->
    [Goal] цель
    [Decision] решение
    [Question] вопрос
    [Preference] предпочтение
    [Instruction] указание
    [Context] обстоятельства
    [Contradiction] противоречие
   *[Memory] воспоминание
}
memory-status = { $status ->
    [active] впереди
    [achieved] достигнуто
    [abandoned] оставлено
    [ended] больше не действует
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
memory-said-at = { DATETIME($at, dateStyle: "long") }
memory-rationale = Почему: { $text }
memory-outcome = Что вышло: { $text }
memory-category = О чём: { $text }
memory-resolution = Как решилось: { $text }
memory-observed = Замечено несколько раз: { $count }
memory-superseded = Это больше не действует: так решено тобой.
memory-button-reached = Достигнуто
memory-button-given-up = Больше не цель
memory-button-ended = Больше не действует
memory-button-holds = Снова действует
memory-button-answered = Решено
memory-button-reopen = Снова открыть
memory-now-achieved = Поздравляю!
memory-now-abandoned = Хорошо, больше не цель.
memory-now-ended = Хорошо, это больше не действует.
memory-now-answered = Хорошо, вопрос закрыт.
memory-now-active = Снова в списке.
memory-now-open = Снова в списке.

forget-memory-confirm = Забыть это? «{ $text }» Сообщения останутся в переписке, но сюда это из них не вернётся.
forget-memory-done = Забываю. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.

ask-contradiction = Две мои записи противоречат друг другу. Что верно?
ask-question = Остался вопрос без ответа: «{ $text }» ({ DATETIME($at, dateStyle: "long") }). Он решён?
ask-fading = Это давно не пригождалось. Забыть или оставить?
ask-suggestion = Тобой записано: «{ $current }». А теперь прозвучало: «{ $value }». Это о записи «{ $text }». Изменить?
ask-button-answered = Да, решён
ask-button-open = Ещё открыт
ask-button-forget = Забыть { $n }
ask-button-keep = Оставить
ask-button-never = Больше не спрашивать
ask-answered = Хорошо, вопрос закрыт. Напиши ответ, и я запомню и его.
ask-open = Хорошо, пусть остаётся открытым.
ask-kept = Хорошо, оставляю.
ask-never = Хорошо, об этом больше не спрошу.
ask-held = Хорошо, дальше исхожу из этого.
suggestion-applied-memory = Хорошо, изменил.
ask-both = Хорошо, оставлю и то и другое.
ask-gone = Этот вопрос больше не нужен: с тех пор что-то изменилось.
ask-forgetting = Забываю { $n }. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.
