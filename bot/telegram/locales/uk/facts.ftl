# Факти: списки, картка, джерела, відповіді про минуле, виправлення, суперечності.

facts-title-own = **Про тебе** — { $count } { $count ->
    [one] факт
    [few] факти
   *[other] фактів
}
facts-title-own-past = **Про тебе, як було раніше** — { $count } { $count ->
    [one] факт
    [few] факти
   *[other] фактів
}
facts-title = **{ $name }** — { $count } { $count ->
    [one] факт
    [few] факти
   *[other] фактів
}
facts-title-past = **{ $name }, як було раніше** — { $count } { $count ->
    [one] факт
    [few] факти
   *[other] фактів
}
about-owner-people = Люди у твоєму житті:
about-owner-said = **Твоїми словами**
facts-none-own =
    Про тебе я поки нічого певного не знаю.
    Розповідай як є, а «/facts Ім’я» покаже, що я знаю про когось чи про щось іще.
facts-none = { $name }: фактів поки немає.
facts-unknown = Нікого й нічого на ім’я «{ $name }» я не знаю.
facts-found = Нікого й нічого на ім’я «{ $name }» не знаю. Але ось що знайшлося:
facts-choose = «{ $name }» може означати різне. Що показати?
facts-kind = { $kind ->
    [person] людина
    [organization] організація
    [place] місце
    [tool] річ
    [Preference] уподобання
    [Topic] тема
   *[other] поняття
}
facts-button-past = Як було раніше: { $count }
facts-button-current = Що правда зараз: { $count }
facts-button-person = Факти

when-since = з { $since }
when-since-until = { $since } — { $until }
when-said = сказано { $since }
when-said-until = сказано { $since }, правда до { $until }
when-open = з невідомої дати
when-open-until = до { $until }

fact-owners-word = Це вказано тобою.
fact-disputed = Цьому суперечить інший факт: вирішувати тобі.
fact-replaced = Це попередня версія, її змінила інша ({ DATETIME($at, dateStyle: "long") }).
fact-withdrawn = Це більше не вважається правдою ({ DATETIME($at, dateStyle: "long") }).
fact-before = Раніше було записано: «{ $text }»
fact-reason = Чому змінено: { $reason }
fact-sources = __Звідки це__
fact-sources-all = __Звідки це: усе по порядку__
fact-sources-before = __Звідки попередня версія__
fact-sources-none = У повідомленнях цього немає.
fact-sources-more = …і ще { $count }.
source-quote = «{ $text }»
source-own = твої слова, { DATETIME($at, dateStyle: "long") }
source-sent = у надісланому тобою, { DATETIME($at, dateStyle: "long") }
source-assistant = моя відповідь, { DATETIME($at, dateStyle: "long") }
source-speaker = { $speaker }, { DATETIME($at, dateStyle: "long") }
source-forward = переслано від { $from }, { DATETIME($at, dateStyle: "long") }
source-speaker-forward = { $speaker }, переслано від { $from }, { DATETIME($at, dateStyle: "long") }
source-text = { DATETIME($at, dateStyle: "long") }
source-open = відкрити
fact-button-look = Відкрити
fact-versions = __Як змінювався запис__
version-recorded = записано { DATETIME($at, dateStyle: "long") }
version-owners = твоє виправлення, { DATETIME($at, dateStyle: "long") }
fact-button-correct = Виправити
fact-button-forget = Забути
fact-button-sources = Усі джерела: { $count }
fact-button-versions = Версії: { $count }
fact-button-newest = До нинішньої версії
fact-button-open = Відкрити { $n }

forget-fact-confirm = Забути це? «{ $text }» Факт зникне з усіма версіями, а повідомлення лишаться в листуванні.
forget-fact-done = Забуваю: «{ $text }». Упродовж { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.
forget-fact-remaining = З того самого повідомлення { $count ->
    [one] взято й це речення
   *[other] взято й ці речення
}. Чи йдеться там про те саме, вирішувати тобі: само не зникне.
forget-fact-left = { $name }: «{ $text }»
forget-button-sentence = Прибрати { $n }
forget-sentence-done = Прибрано назавжди.
forget-button-messages = { $count ->
    [1] Забути й повідомлення
   *[other] Забути й повідомлення: { $count }
}
forget-messages-done = { $count ->
    [1] Твоє повідомлення теж забуваю — разом з усім, що відомо лише з нього.
   *[other] Твої повідомлення теж забуваю ({ $count }) — разом з усім, що відомо лише з них.
}
forget-messages-late = Факт уже стерто, і з яких він повідомлень, я більше не знаю.

said-button-forget = Забути { $n }
forget-said-confirm = Забути це повідомлення? «{ $text }» З ним зникне все, що відомо лише з нього.
forget-said-done = Забуваю це повідомлення. Упродовж { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.

correct-ask =
    Як правильно? Напиши це одним реченням.
    Зараз: «{ $text }»
    Лишити як є — /cancel.
correct-sure =
    { $how ->
        [denied] Прибрати це назовсім?
        [ended] Записати, що це в минулому?
       *[changed] Виправити?
    }
    Зараз: «{ $old }»
    По-твоєму: «{ $new }»
correct-button-yes = Так
correct-button-no = Ні
correct-button-undo = Скасувати
correct-undone = Скасовано: усе як було.
correct-lapsed = Твого речення в мене вже немає, тому зараз я нічого не змінював. Ось як записано:
correct-news = Це про щось інше, тому факти не змінюються. Беру як новину.
correct-done = Виправлено. Раз це вказано тобою, саме собою воно вже не зміниться.
correct-same = Так і записано, міняти нічого.
correct-ended = Записав: це в минулому.
correct-denied = Прибрав: більше так не вважаю.
correct-choose = Що виправити?
correct-nothing = Ця відповідь не спирається на жоден факт, виправляти в ній нічого. Переглянути факти можна через /facts.
refused-empty_fact = Напиши хоча б одне слово.
refused-too_long = Задовго для одного факту. Спробуй, будь ласка, коротше.

why-title = **На чому ґрунтується ця відповідь**
why-uncited = Прямо вона ні на що не посилається. Під рукою в мене було:
why-given = Ще було під рукою:
why-people = Я мав на думці цих людей: { $names }
why-gone = цього факту вже немає
why-none = Для цієї відповіді пам’ять не знадобилася: вистачило самої розмови.
why-no-answer = Пояснювати поки нічого: відповідей ще не було.
why-not-answer = Це не відповідь на питання. Відповідай командою /why на мою відповідь — покажу, звідки я це взяв.

asof-usage =
    Запитай про інший час: спершу дата, потім питання.
    /asof травень 2023 де працює Оля?
    /asof минулого літа з ким живе Петренко?
asof-unreadable =
    Не розумію, про який час ідеться: «{ $text }».
    Підійде рік, місяць, дата або слова на зразок «минулого літа», «два роки тому». Наприклад: /asof травень 2023 де працює Оля?
asof-ask = { $period }. Що дізнатися про цей час?
asof-future = Цей час іще попереду: { $period }. А я пам’ятаю лише те, що було.
asof-nothing = { $period }: нічого про це не знаю.
asof-title = **{ $period }**
asof-rests = __Що було правдою тоді__
asof-without-words = Відповісти своїми словами зараз не вийшло, але ось що тоді було правдою:
period-moment = { DATETIME($first, dateStyle: "long", timeStyle: "short") }
period-day = { DATETIME($first, dateStyle: "long") }
period-span = { DATETIME($first, dateStyle: "long") } — { DATETIME($last, dateStyle: "long") }

contradiction-ask = Це суперечить одне одному. Що правда?
contradiction-button-both = { $count ->
    [2] Правда і те і те
   *[other] Усе правда
}
contradiction-button-neither = { $count ->
    [2] Ні те ні те
   *[other] Усе неправда
}
contradiction-one = Гаразд, правда це: { $fact }.
contradiction-both = Гаразд, залишу і те, і те.
contradiction-neither = Гаразд, більше на це не спираюся.
contradiction-gone = Це питання більше не потрібне: відтоді щось змінилося.

join-choose = Що таке «{ $name }» насправді? Напиши назву того, з чим це одне й те саме.
join-which = Назва «{ $name }» підходить кільком. Що мається на увазі?
join-unknown = Нічого такого з назвою «{ $name }» я не знаю.
join-confirm = Об’єднати? «{ $source }» стане частиною «{ $target }»: усе, що відомо, об’єднається, лишиться назва «{ $target }».
join-done = Готово: «{ $source }» і «{ $target }» тепер одне.
join-undone = Знову окремо.

audience-button = Для кого
audience-rules = За правилами
audience-private = Лише я
audience-team = Моя команда
audience-ask = «{ $text }» — для кого це? Зараз: { $now }
audience-kept = Запам’ятав.
