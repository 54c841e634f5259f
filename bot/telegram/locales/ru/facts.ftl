# Факты: списки, карточка, источники, ответы о прошлом, исправления, противоречия.

facts-title-own = **О тебе** — { $count } { $count ->
    [one] факт
    [few] факта
   *[other] фактов
}
facts-title-own-past = **О тебе, как было раньше** — { $count } { $count ->
    [one] факт
    [few] факта
   *[other] фактов
}
facts-title = **{ $name }** — { $count } { $count ->
    [one] факт
    [few] факта
   *[other] фактов
}
facts-title-past = **{ $name }, как было раньше** — { $count } { $count ->
    [one] факт
    [few] факта
   *[other] фактов
}
about-owner-people = Люди в твоей жизни:
about-owner-said = **Твоими словами**
facts-none-own =
    О тебе самом я пока ничего определённого не знаю.
    Рассказывай как есть, а «/facts Имя» покажет, что я знаю о ком-то или о чём-то ещё.
facts-none = { $name }: фактов пока нет.
facts-unknown = Никого и ничего под именем «{ $name }» я не знаю.
facts-found = Под именем «{ $name }» никого и ничего не знаю. Но вот что нашлось:
facts-choose = «{ $name }» может значить разное. Что показать?
facts-kind = { $kind ->
    [person] человек
    [organization] организация
    [place] место
    [tool] вещь
    [Preference] предпочтение
    [Topic] тема
   *[other] понятие
}
facts-button-past = Как было раньше: { $count }
facts-button-current = Что верно сейчас: { $count }
facts-button-person = Факты

when-since = с { $since }
when-since-until = { $since } — { $until }
when-said = сказано { $since }
when-said-until = сказано { $since }, верно до { $until }
when-open = с неизвестной даты
when-open-until = до { $until }

fact-owners-word = Это указано тобой.
fact-disputed = Этому противоречит другой факт: решать тебе.
fact-replaced = Это прежняя версия, её сменила другая ({ DATETIME($at, dateStyle: "long") }).
fact-withdrawn = Это больше не считается верным ({ DATETIME($at, dateStyle: "long") }).
fact-before = Раньше было записано: «{ $text }»
fact-reason = Почему изменено: { $reason }
fact-sources = __Откуда это__
fact-sources-all = __Откуда это: всё по порядку__
fact-sources-before = __Откуда прежняя версия__
fact-sources-none = В сообщениях этого нет.
fact-sources-more = …и ещё { $count }.
source-quote = «{ $text }»
source-own = твои слова, { DATETIME($at, dateStyle: "long") }
source-sent = в том, что прислано тобой, { DATETIME($at, dateStyle: "long") }
source-assistant = мой ответ, { DATETIME($at, dateStyle: "long") }
source-speaker = { $speaker }, { DATETIME($at, dateStyle: "long") }
source-forward = переслано от { $from }, { DATETIME($at, dateStyle: "long") }
source-speaker-forward = { $speaker }, переслано от { $from }, { DATETIME($at, dateStyle: "long") }
source-text = { DATETIME($at, dateStyle: "long") }
source-open = открыть
fact-button-look = Открыть
fact-versions = __Как менялась запись__
version-recorded = записано { DATETIME($at, dateStyle: "long") }
version-owners = твоя правка, { DATETIME($at, dateStyle: "long") }
fact-button-correct = Поправить
fact-button-forget = Забыть
fact-button-sources = Все источники: { $count }
fact-button-versions = Версии: { $count }
fact-button-newest = К нынешней версии
fact-button-open = Открыть { $n }

forget-fact-confirm = Забыть это? «{ $text }» Факт исчезнет со всеми версиями, а сообщения останутся в переписке.
forget-fact-done = Забываю: «{ $text }». В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.
forget-fact-remaining = Из того же сообщения { $count ->
    [one] взято и это предложение
   *[other] взяты и эти предложения
}. Говорится ли там о том же, решать тебе: само не исчезнет.
forget-fact-left = { $name }: «{ $text }»
forget-button-sentence = Убрать { $n }
forget-sentence-done = Убрано насовсем.
forget-button-messages = { $count ->
    [1] Забыть и сообщение
   *[other] Забыть и сообщения: { $count }
}
forget-messages-done = { $count ->
    [1] Твоё сообщение тоже забываю — вместе со всем, что известно только из него.
   *[other] Твои сообщения тоже забываю ({ $count }) — вместе со всем, что известно только из них.
}
forget-messages-late = Факт уже стёрт, и из каких он сообщений, я больше не знаю.

said-button-forget = Забыть { $n }
forget-said-confirm = Забыть это сообщение? «{ $text }» С ним уйдёт всё, что известно только из него.
forget-said-done = Забываю это сообщение. В ближайшие { $minutes } { $minutes ->
    [one] минуту
    [few] минуты
   *[other] минут
} ещё можно передумать.

correct-ask =
    Как правильно? Напиши это одним предложением.
    Сейчас: «{ $text }»
    Оставить как есть — /cancel.
correct-sure =
    { $how ->
        [denied] Убрать это насовсем?
        [ended] Записать, что это в прошлом?
       *[changed] Исправить?
    }
    Сейчас: «{ $old }»
    По-твоему: «{ $new }»
correct-button-yes = Да
correct-button-no = Нет
correct-button-undo = Отменить
correct-undone = Отменено: всё как было.
correct-lapsed = Твоего предложения у меня уже нет, поэтому сейчас я ничего не менял. Вот как записано:
correct-news = Это о чём-то другом, поэтому факты не меняются. Принимаю как новость.
correct-done = Исправлено. Раз это указано тобой, само оно уже не изменится.
correct-same = Так и записано, менять нечего.
correct-ended = Записал: это в прошлом.
correct-denied = Убрал: больше так не считаю.
correct-choose = Что поправить?
correct-nothing = Этот ответ не основан ни на одном факте, поправлять в нём нечего. Посмотреть факты можно через /facts.
refused-empty_fact = Напиши хотя бы одно слово.
refused-too_long = Слишком длинно для одного факта. Попробуй, пожалуйста, короче.

why-title = **На чём основан этот ответ**
why-uncited = Прямо он ни на что не ссылается. Под рукой у меня было:
why-given = Ещё было под рукой:
why-people = Я держал в уме этих людей: { $names }
why-gone = этого факта уже нет
why-none = Для этого ответа память не понадобилась: хватило самого разговора.
why-no-answer = Объяснять пока нечего: ответов ещё не было.
why-not-answer = Это не ответ на вопрос. Ответь командой /why на мой ответ — покажу, откуда я это взял.

asof-usage =
    Спроси о другом времени: сначала дата, потом вопрос.
    /asof май 2023 где работает Маша?
    /asof прошлым летом с кем живёт Петров?
asof-unreadable =
    Не понимаю, о каком времени речь: «{ $text }».
    Подойдёт год, месяц, дата или слова вроде «прошлым летом», «два года назад». Например: /asof май 2023 где работает Маша?
asof-ask = { $period }. Что узнать об этом времени?
asof-future = Это время ещё впереди: { $period }. А я помню только то, что было.
asof-nothing = { $period }: ничего об этом не знаю.
asof-title = **{ $period }**
asof-rests = __Что было верно тогда__
asof-without-words = Ответить своими словами сейчас не получилось, но вот что тогда было верно:
period-moment = { DATETIME($first, dateStyle: "long", timeStyle: "short") }
period-day = { DATETIME($first, dateStyle: "long") }
period-span = { DATETIME($first, dateStyle: "long") } — { DATETIME($last, dateStyle: "long") }

contradiction-ask = Это противоречит одно другому. Что верно?
contradiction-button-both = { $count ->
    [2] Верно и то и другое
   *[other] Верно всё
}
contradiction-button-neither = { $count ->
    [2] Ни то ни другое
   *[other] Всё неверно
}
contradiction-one = Хорошо, верно это: { $fact }.
contradiction-both = Хорошо, оставлю и то и другое.
contradiction-neither = Хорошо, больше на это не опираюсь.
contradiction-gone = Этот вопрос больше не нужен: с тех пор что-то изменилось.

join-choose = Что такое «{ $name }» на самом деле? Напиши название того, с чем это одно и то же.
join-which = Название «{ $name }» подходит нескольким. Что имеется в виду?
join-unknown = Ничего такого с названием «{ $name }» я не знаю.
join-confirm = Объединить? «{ $source }» станет частью «{ $target }»: всё, что известно, объединится, останется название «{ $target }».
join-done = Готово: «{ $source }» и «{ $target }» теперь одно.
join-undone = Снова по отдельности.

audience-button = Для кого
audience-rules = По правилам
audience-private = Только я
audience-team = Моя команда
audience-ask = «{ $text }» — для кого это? Сейчас: { $now }
audience-kept = Запомнил.
