# Розбір розмови, стан, забування, вивантаження, приватність.

archive-nothing = Розбирати поки нічого: усе сказане вже розібрано.
archive-started = Беру до розбору { $count } { $count ->
    [one] повідомлення
    [few] повідомлення
   *[other] повідомлень
}. Зазвичай це займає менше хвилини; потім зазирни в /people.
archive-again = Пробую ще раз те, що раніше не вдалося розібрати: { $count }.
archive-reread = Перечитую змінені повідомлення: { $count }.
archive-unpaid = Чекає, доки дозволить мій денний бюджет: { $count }. Скільки витрачено, покаже /status.
archive-running = Нового немає, але сказане раніше я ще розбираю.
still-reading = Я ще розбираю нашу розмову. Зазирни ще раз за хвилинку.
not-read-yet = Дещо зі сказаного я ще не розібрав: зроблю це, коли в розмові буде пауза, а /archive — одразу.
archive-answering = На останнє повідомлення я ще відповідаю; розберу його разом із відповіддю.
archive-dead = Частину нашої розмови мені розібрати не вдалося. Докладніше — /status, а /archive спробує ще раз.
archive-denied = Сервер мовної моделі відхиляє мої запити, тому розбирати наші розмови я поки не можу. Нічого не втрачено: усе продовжиться само, коли налаштування будуть правильні. Докладніше — /status.

status-buffered = { $count ->
    [0] Усю розмову розібрано.
   *[other] Чекають на розбір: { $count } { $count ->
        [one] повідомлення
        [few] повідомлення
       *[other] повідомлень
    }.
}
status-waiting = Розбираю зараз: { $count }.
status-dead = Не вдалося розібрати: { $count }. /archive спробує ще раз; подробиці в журналі бота.
status-refused = Сервер відмовляється відповідати моделлю { $model }: { $error }
status-refused-fix = Перевір `llm.model` або моделі в `agents`, а також `llm.api_key`. Те, що чекає, продовжиться само.
status-people = Знаю людей: { $count }.
status-models = Відповідає { $responder }, розбирає { $archivist }.
status-offline = Моделі вбудовані, працюють без інтернету: відповідаю тим, що пам’ятаю, без красномовства.
status-quarantined = Оновлень від Telegram, які не вдалося прочитати: { $count }.
status-mirror = Змін, яких ще немає в дзеркалі графа: { $count }.
status-spent = Сьогодні витрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $ із { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) } $.
status-spent-unlimited = Сьогодні витрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $.

forget-ask = Що забути? Напиши ім’я людини — або натисни кнопку, щоб стерти все.
forget-button-everything = Забути все
forget-person-confirm = Забути? { $name }: зникнуть профіль і всі факти, спогади, завдання й записи, де названо цю людину. { $count ->
    [0] Повідомлень про цю людину в листуванні немає.
    [1] Одне повідомлення про цю людину лишиться в листуванні: його можна знайти й вивантажити, але цитувати його я не буду. Друга кнопка зітре і його.
   *[other] Повідомлення про цю людину ({ $count }) лишаться в листуванні: їх можна знайти й вивантажити, але цитувати їх я не буду. Друга кнопка зітре і їх.
} У резервних копіях усе це може зберігатися ще { $days } { $days ->
    [one] день
    [few] дні
   *[other] днів
}.
forget-button-about = { $count ->
    [1] Так, і повідомлення теж
   *[other] Так, і повідомлення: { $count }
}
forget-everything-confirm = Стерти **все**: листування, людей, усе, що я запам’ятав? Почнемо з чистого аркуша. У резервних копіях це може зберігатися ще { $days } { $days ->
    [one] день
    [few] дні
   *[other] днів
}.
forget-button-yes = Так, забути
forget-person-done = Забуваю: { $name }. Упродовж { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.
forget-person-messages-done = { $count ->
    [1] Повідомлення теж забуваю — разом з усім, що відомо лише з нього.
   *[other] Повідомлення теж забуваю ({ $count }) — разом з усім, що відомо лише з них.
}
forget-everything-done = Забуваю все. Упродовж { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.
forget-button-undo = Повернути
forget-undone = Повернув, усе знову на місці.
forget-too-late = Повернути вже не можна: час вийшов.

export-caption = Усе, що я про тебе зберігаю. Дата: { DATETIME($day, dateStyle: "long") }
export-caption-forgetting = Тут ще є те, що ти просиш забути: доки це можна повернути, воно не стерте.
export-caption-people = Усі люди у вигляді vCard, для будь-якої адресної книги
file-failed = Не вдалося надіслати файл: Telegram його не прийняв. Спробуй ще раз трохи згодом.
file-too-big = Файл завеликий для Telegram. Його може вивантажити той, хто запускає бота, командою laplaced export

privacy =
    __Що я зберігаю.__ Наші повідомлення, людей і факти з них; твоє ім’я, @username, мову й часовий пояс; журнал того, що я зробив і скільки це коштувало. Ще { $days } { $days ->
        [one] день
        [few] дні
       *[other] днів
    } — усе, що я показав моделі, та її відповіді повністю.
    __Де.__ У базі на машині, де мене запущено. Її власник технічно може туди зазирнути; інші користувачі бота — ні.
    __Хто ще бачить.__ { $transport } { $models }
    __Як видалити.__ /forget стирає все або людину з усім, що я про неї знаю; повідомлення про неї лишаються в листуванні, якщо не стерти і їх. /export віддає копію. У резервних копіях стерте може зберігатися ще { $held } { $held ->
        [one] день
        [few] дні
       *[other] днів
    }.
privacy-telegram = Повідомлення проходять через Telegram.
privacy-local = Справжнього Telegram тут немає: чат працює на тій самій машині.
privacy-offline = Моделі працюють на тій самій машині, і більше нікуди слова не йдуть.
privacy-provider = Щоб відповісти, я надсилаю потрібну частину розмови й відомостей про людей сюди: { $hosts }.

forget-choose = Що з цього забути?
forget-nothing = Не знайшлося нічого, що можна забути, за словами «{ $what }».
remembered = 📌 Збережено: «{ $text }»
claim-undone = (У пам’яті та в завданнях нічого не змінилося.)

undo = Що змінилося за тиждень. Номер скасовує цю зміну.
undo-nothing = За тиждень не змінилося нічого, що можна скасувати.
undo-done = Скасовано. { $what }
undo-too-late = Уже пізно, або на цьому тримається щось новіше.
undo-fact_learned = Дізнався: { $what }
undo-fact_corrected = Виправлено на: { $what }
undo-fact_ended = Більше не так: { $what }
undo-memory_added = Запам'ятав: { $what }
undo-person_added = Нова людина: { $what }
undo-person_edited = Картку змінено: { $what }
undo-people_merged = Об'єднано: { $what }
undo-things_merged = Дві речі стали однією: { $what }
undo-task_opened = Справа: { $what }
undo-task_closed = Справу закрито: { $what }
undo-task_moved = Перенесено: { $what }
undo-forgetting = Забувається: { $what }
undo-forgotten-everything = усе
undo-forgotten-person = людина
undo-forgotten-entity = річ
undo-forgotten-fact = факт
undo-forgotten-memory = спогад
undo-forgotten-episode = джерело
undo-forgotten-message = повідомлення
