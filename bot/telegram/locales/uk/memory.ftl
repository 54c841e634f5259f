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
archive-answering = На останнє повідомлення я ще відповідаю; розберу його разом із відповіддю.
archive-dead = Частину нашої розмови мені розібрати не вдалося. Докладніше — /status, а /archive спробує ще раз.

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
status-people = Знаю людей: { $count }.
status-models = Відповідає { $responder }, розбирає { $archivist }.
status-offline = Моделі вбудовані, працюють без інтернету: відповідаю тим, що пам’ятаю, без красномовства.
status-quarantined = Оновлень від Telegram, які не вдалося прочитати: { $count }.
status-mirror = Змін, яких ще немає в дзеркалі графа: { $count }.
status-spent = Сьогодні витрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $ із { NUMBER($limit, minimumFractionDigits: 2, maximumFractionDigits: 2) } $.
status-spent-unlimited = Сьогодні витрачено { NUMBER($spent, minimumFractionDigits: 2, maximumFractionDigits: 4) } $.

forget-ask = Що забути? Напиши ім’я людини — або натисни кнопку, щоб стерти все.
forget-button-everything = Забути все
forget-person-confirm = Забути? { $name }: зникне профіль і все, що я дізнався про людину з розмов.
forget-everything-confirm = Стерти **все**: листування, людей, усе, що я запам’ятав? Почнемо з чистого аркуша.
forget-button-yes = Так, забути
forget-person-done = Забуваю: { $name }. Упродовж { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.
forget-everything-done = Забуваю все. Упродовж { $minutes } { $minutes ->
    [one] хвилини
   *[other] хвилин
} ще можна передумати.
forget-button-undo = Повернути
forget-undone = Повернув, усе знову на місці.
forget-too-late = Повернути вже не можна: час вийшов.

export-caption = Усе, що я про тебе зберігаю. Дата: { DATETIME($day, dateStyle: "long") }
export-caption-forgetting = Тут ще є те, що ти просиш забути: доки це можна повернути, воно не стерте.
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
    __Як видалити.__ /forget стирає людину або все, /export віддає копію.
privacy-telegram = Повідомлення проходять через Telegram.
privacy-local = Справжнього Telegram тут немає: чат працює на тій самій машині.
privacy-offline = Моделі працюють на тій самій машині, і більше нікуди слова не йдуть.
privacy-provider = Щоб відповісти, я надсилаю потрібну частину розмови й відомостей про людей сюди: { $hosts }.
