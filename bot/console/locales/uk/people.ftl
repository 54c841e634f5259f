page-people = Люди
circle-Family = Родина
circle-Work_Inner = Близькі колеги
circle-Friends = Друзі
circle-Work_Outer = Колеги
circle-Other = Інші
people-empty = Людей поки немає
people-empty-text = Розкажіть боту про когось, і людина з’явиться тут: «Марія — моя сестра, вона живе у Львові». Контакти й переслані повідомлення теж рахуються.
people-search = Знайти людину
people-filter = Кола
people-drawing = Люди навколо вас, найближчі всередині
people-closer = Наблизити
people-farther = Віддалити
people-whole = Показати всіх
people-circles = Усі люди
people-map-none = Зв'язки поки невідомі. Скажіть, хто кому ким доводиться: «моя сестра Маша».
people-map = Хто кому ким доводиться
people-list = Люди списком
people-looking = Пошук…
people-nobody = Нікого не знайдено. Спробуйте інше ім’я або те, що відомо про людину.
people-found = Знайдено: { $count }
people-count = { $count ->
    [one] { $count } людина
    [few] { $count } людини
   *[other] { $count } людей
}
people-most = Показано { $shown } найзгадуваніших із { $count }; пошук охоплює всіх
people-mentions = { $count ->
    [one] { $count } згадка
    [few] { $count } згадки
   *[other] { $count } згадок
}
people-seen = востаннє { $at }
people-all = Усі люди
people-first-seen = Уперше
people-last-seen = Востаннє
people-mentioned = Згадки
people-telegram = Telegram
people-about = Про людину
people-no-bio = Про цю людину поки нічого не записано.
people-aliases = Також звуть
people-by-owner = задано вручну
people-edit = Змінити
people-merge = Об’єднати
people-forget = Забути
people-forget-title = Забути назавжди? { $name }
people-forget-text = Зникнуть профіль і всі факти, спогади, завдання й записи, де названо цю людину. { $count ->
    [0] Повідомлень про цю людину немає.
    [1] Одне повідомлення про неї лишиться: його можна знайти й вивантажити, але відповіді його не цитують. Можна стерти і його.
   *[other] Повідомлення про цю людину ({ $count }) лишаться: їх можна знайти й вивантажити, але відповіді їх не цитують. Можна стерти і їх.
} У резервних копіях усе це може зберігатися ще { $days } { $days ->
    [one] день
    [few] дні
   *[other] днів
}. Скасувати це не можна.
people-forget-about = { $count ->
    [1] Забути й повідомлення
   *[other] Забути й повідомлення: { $count }
}
people-in-graph = У графі
people-facts = Факти в часі
people-facts-none = Фактів поки немає
people-facts-none-text = Факти беруться з того, що ви розповідаєте боту про цю людину; згадки — нижче.
people-fact-now = правда зараз
people-fact-ended = більше не правда
people-fact-corrected = виправлено
people-fact-unknown = дата початку невідома
people-fact-since = з { $from }
people-fact-until = до { $until }
people-fact-span = { $from } – { $until }
people-why = Причина: { $reason }
people-before = Раніше: { $words }
people-sources = Звідки це
people-no-sources = Задано вручну: у жодному повідомленні цього немає.
people-open-message = Відкрити повідомлення
people-open-source = Відкрити джерело
people-forwarded = переслано від { $name }
people-talks = Згадки
people-talks-none = Жодна розмова поки не згадує цю людину.
people-by-month = Згадки за місяцями
people-month = { $month }: { $count }
people-no-lines = Точні рядки не позначено; відкрийте розмову повністю.
people-whole-talk = Прочитати розмову повністю
people-merged = Об’єднані в цей профіль
people-merged-text = Після розділення кожен знову матиме свій профіль зі своїми фактами та згадками.
people-merged-at = об’єднано { $at }
people-split = Розділити
people-split-title = Відділити { $name }?
people-split-text = { $name }: знову буде окремий профіль із фактами та згадками, які прийшли з нього. Це можна скасувати.
people-split-done = { $name } — знову окремий профіль.
people-edit-title = Змінити профіль
people-edit-text = Те, що ви задали самі, бот більше не змінює.
people-name = Ім’я
people-aliases-hint = Імена через кому. Прибране ім’я бот більше не запам’ятає.
people-username = Ім’я користувача Telegram
people-circle = Коло
people-bio = Про людину
people-save = Зберегти
people-cancel = Скасувати
people-saved = Збережено.
people-merge-title = З ким об’єднати: { $name }?
people-merge-find = Ім’я другої людини
people-merge-none = Нікого з таким ім’ям.
people-merge-choose = Хтось інший
people-merge-confirm = Зробити { $source } частиною профілю { $target }?
people-merge-text = Факти, згадки та імена профілю { $source } перейдуть до профілю { $target }. Це можна скасувати й пізніше.
people-merge-swap = Навпаки
people-merge-part = стане частиною
people-merge-done = { $source } тепер частина профілю { $target }.
people-undo = Скасувати
people-undone = Скасовано.
