# Цілі, рішення, питання, вподобання, спогади: списки, картка; про що бот питає сам.

memories-title-goals = **Твої цілі** — попереду { $count }
memories-title-goals-past = **Минулі цілі** — { $count }
memories-title-decisions = **Твої рішення** — { $count }
memories-title-questions = **Питання без відповіді** — { $count }
memories-title-questions-past = **Вирішені питання** — { $count }
memories-title-preferences = **Що тобі подобається, а що ні** — { $count }
memories-title-instructions = **Чого я дотримуюся завжди** — { $count }
memories-title-instructions-past = **Що більше не діє** — { $count }
memories-title-memories = **Що я запам’ятав** — { $count }, спершу нове
memories-none-goals = Цілей зараз немає. Розкажеш, чого хочеш досягти, — запам’ятаю.
memories-none-decisions = Рішень поки немає. Розкажеш, що вирішено й чому, — запам’ятаю.
memories-none-questions = Відкритих питань немає.
memories-none-preferences = Про твої смаки та звички я поки нічого не знаю.
memories-none-instructions = Постійних вказівок немає. Скажи, як відповідати, наприклад «Завжди відповідай коротко» або «Ніколи не став зустрічей до десятої», і я так робитиму.
memories-none-memories = Поки мені нічого згадати. Що більше розкажеш, то більше тут буде.
memories-found = За запитом «{ $text }» знайшлося:
memories-not-found = За запитом «{ $text }» тут нічого немає.
memories-button-past = Колишні: { $count }
memories-button-current = Теперішні: { $count }

memory-kind = { $kind ->
    [Goal] ціль
    [Decision] рішення
    [Question] питання
    [Preference] вподобання
    [Instruction] вказівка
    [Context] обставини
    [Contradiction] суперечність
   *[Memory] спогад
}
memory-status = { $status ->
    [active] попереду
    [achieved] досягнуто
    [abandoned] залишено
    [ended] більше не діє
    [open] без відповіді
    [partial] відповідь лише часткова
    [answered] вирішено
    [liked] подобається
    [disliked] не подобається
    [completed] закінчено
    [archived] в архіві
    [unresolved] не вирішено
    [accepted] правильне і те, і те
   *[resolved] вирішено
}
memory-due = до { DATETIME($at, dateStyle: "long") }
memory-answered-at = відповідь { DATETIME($at, dateStyle: "long") }
memory-said-at = { DATETIME($at, dateStyle: "long") }
memory-rationale = Чому: { $text }
memory-outcome = Що вийшло: { $text }
memory-category = Про що: { $text }
memory-resolution = Як вирішилося: { $text }
memory-observed = Помічено кілька разів: { $count }
memory-superseded = Це більше не діє: так вирішено тобою.
memory-button-reached = Досягнуто
memory-button-given-up = Більше не ціль
memory-button-ended = Більше не діє
memory-button-holds = Знову діє
memory-button-answered = Вирішено
memory-button-reopen = Знову відкрити
memory-now-achieved = Вітаю!
memory-now-abandoned = Гаразд, більше не ціль.
memory-now-ended = Гаразд, це більше не діє.
memory-now-answered = Гаразд, питання закрито.
memory-now-active = Знову у списку.
memory-now-open = Знову у списку.

forget-memory-confirm = Забути це? «{ $text }» Повідомлення лишаться в листуванні, але сюди це з них не повернеться.
forget-memory-done = Забуваю. Протягом { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.

ask-contradiction = Два мої записи суперечать один одному. Що правильне?
ask-question = Залишилося питання без відповіді: «{ $text }» ({ DATETIME($at, dateStyle: "long") }). Його вирішено?
ask-fading = Це давно не ставало в пригоді. Забути чи залишити?
ask-suggestion = Тобою записано: «{ $current }». А тепер прозвучало: «{ $value }». Це про запис «{ $text }». Змінити?
ask-button-answered = Так, вирішено
ask-button-open = Ще відкрите
ask-button-forget = Забути { $n }
ask-button-keep = Залишити
ask-button-never = Більше не питати
ask-answered = Гаразд, питання закрито. Напиши відповідь, і я запам’ятаю і її.
ask-open = Гаразд, нехай лишається відкритим.
ask-kept = Гаразд, залишаю.
ask-never = Гаразд, про це більше не питатиму.
ask-held = Гаразд, далі виходжу з цього.
suggestion-applied-memory = Гаразд, змінив.
ask-both = Гаразд, залишу і те, і те.
ask-gone = Це питання більше не потрібне: відтоді щось змінилося.
ask-forgetting = Забуваю { $n }. Протягом { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.
