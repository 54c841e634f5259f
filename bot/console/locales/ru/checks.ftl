# Results of the health checks, by key. The English texts are in the code of the checks.
found-backups-made = Копий в папке данных: { $count }; последняя сделана { $age_seconds } назад
found-backups-none = Ни одной копии нет
found-backups-none-fix = laplaced backup (из cron или по таймеру: см. docs/operations.md)
found-backups-none-yet = Копий пока нет; сделать: laplaced backup (из cron или по таймеру: см. docs/operations.md)
found-backups-old = Последней копии столько дней: { $days }
found-backups-old-fix = laplaced backup (из cron или по таймеру: см. docs/operations.md)
found-clock-ahead = Сохранённые времена забегают в будущее на { $ahead_seconds }: часы шли неверно тогда или идут неверно сейчас
found-clock-ahead-fix = выставьте часы и включите NTP; до тех пор ничего не теряется
found-clock-past = Часы показывают { $now_at }, это время уже прошло
found-clock-past-fix = выставьте часы и включите NTP
found-clock-shows = { $now_at }
found-clocks-agree = Часы сервера и этой машины расходятся на { $seconds } с
found-clocks-differ = Часы сервера и этой машины расходятся на { $seconds } с; сроки отсчитывают часы сервера
found-clocks-differ-fix = включите NTP на обеих машинах
found-config-read = Настройки прочитаны; данные в { $folder }
found-connections-full = Занято { $used } из { $most }, процессу нужно { $each }: для ещё одного места нет
found-connections-full-fix = увеличьте max_connections сервера, поставьте перед ним pgbouncer или запускайте меньше процессов
found-connections-room = Занято { $used } из { $most }, процессу нужно { $each }: хватит ещё на { $room }
found-database-half = Перенос в эту базу прерван
found-database-half-fix = ещё раз ту же команду laplaced migrate-store
found-database-moved = Эту базу перенесли: { $moved }
found-database-moved-fix = укажите в storage.url новое место; чтобы продолжить с этой: laplaced reopen
found-database-none = Её ещё нет в { $path }; появится при первом запуске
found-dictionaries-both = Слова вопросов переводятся на другие языки
found-dictionaries-missing = Нет двуязычного словаря, слова на других языках находятся только по смыслу; установить: apt install mueller7-dict apertium-rus-ukr
found-disk-free = Свободно { $free } ГБ
found-disk-full = Свободно { $free } ГБ, база занимает { $size } МБ
found-disk-full-fix = освободите место в { $folder }: для копий и восстановления нужно { $wanted } ГБ
found-disk-no-folder = Папки данных { $folder } ещё нет; появится при первом запуске
found-disk-room = Свободно { $free } ГБ, база занимает { $size } МБ
found-embedding-answers = { $model } отвечает, чисел в векторе: { $size }
found-embedding-error = { $error }
found-embedding-error-fix = проверьте embedding.base_url, embedding.api_key и embedding.model; до тех пор люди находятся по имени
found-embedding-offline = Отвечает встроенная модель { $model }
found-embedding-size = { $error }
found-embedding-size-fix = укажите в embedding.dimensions столько, сколько даёт { $model } (сейчас { $size })
found-encoding-other = Кодировка базы — { $encoding }, она подходит не для всех языков
found-encoding-other-fix = CREATE DATABASE laplaced ENCODING 'UTF8' TEMPLATE template0, затем: laplaced migrate-store
found-hidden-unexplained = Останется скрытым навсегда, хотя забыть это никто не просит: { $count } (пользователь { $user })
found-hidden-unexplained-fix = { $command } покажет это снова
found-integrity-damaged = Файл базы повреждён: { $damage }
found-integrity-damaged-fix = остановите бота, затем: { $command }
found-integrity-lost = Файл базы повреждён: { $damage }
found-integrity-lost-fix = восстановите базу из своей копии
found-integrity-sound = Файл базы цел
found-keys-exposed = { $path } могут прочитать другие (права { $mode })
found-keys-exposed-fix = chmod 600 { $path }
found-keys-private = Доступны только владельцу файлов
found-mirror-answers = { $target } отвечает, отстаёт на столько изменений: { $count }
found-mirror-error = { $target }: { $error }
found-mirror-error-fix = проверьте graph.mirror_url и сервер; бот работает без него, и зеркало догонит само
found-mirror-missing = { $error }
found-mirror-missing-fix = pip install '.[graph]' в папке Laplaced, или оставьте graph.mirror_url пустым
found-mirror-none = Не настроено; `laplaced graph query` создаёт его на время вопроса
found-mirror-none-missing = Не настроено, и вопросы на Cypher задать нельзя: { $error }
found-mirror-starts = { $target } запускается вместе с ботом
found-model-answers = { $model } отвечает
found-model-error = { $model }: { $error }
found-model-error-fix = проверьте llm.base_url, llm.api_key и имя модели; сообщения сохраняются, пока она не ответит
found-model-unknown = { $model }: { $error }
found-model-unknown-fix = задайте в llm.model или у агента модель, которая есть на сервере; то, что ждёт, продолжится само
found-model-misconfigured = { $error }
found-model-misconfigured-fix = исправьте llm.base_url и llm.api_key
found-model-local = { $file } загружается, когда запускается бот
found-model-offline = Отвечают встроенные модели: ключ не задан
found-morphology-both = Словари русского и украинского языков на месте
found-morphology-no-ukrainian = Нет украинского словаря, украинские слова читаются по правилам; установить: pip install '.[ukrainian]' в папке Laplaced
found-other-bot-waits = Сообщений другого бота, которые ждут его токена: { $count }; этот бот их не отправляет
found-outbox-empty = Всё отправлено{ $held ->
    [0] {""}
   *[other] ; ждут тех, кто остановил бота: { $held }
}
found-outbox-next-start = Уйдут при следующем запуске: { $count }{ $held ->
    [0] {""}
   *[other] ; ждут тех, кто остановил бота: { $held }
}
found-outbox-on-way = В пути: { $count }{ $held ->
    [0] {""}
   *[other] ; ждут тех, кто остановил бота: { $held }
}
found-outbox-stuck = Не отправлено: { $count }, дольше всех ждут { $late_seconds }{ $held ->
    [0] {""}
   *[other] ; ждут тех, кто остановил бота: { $held }
}
found-outbox-stuck-fix = посмотрите проверку Telegram и строки send_failed в журнале, затем перезапустите
found-postgresql-old = Версия { $version } слишком стара: нужна { $wanted } или новее
found-postgresql-old-fix = обновите сервер или переезжайте на более новый: laplaced migrate-store
found-postgresql-unusable = { $trouble }
found-postgresql-unusable-fix = исправьте storage.url или проверьте сервер; до тех пор ничего не теряется
found-postgresql-version = Версия { $version }
found-privacy-off = Режим приватности выключен: Telegram шлёт боту все сообщения из всех его групп, хотя в группах он не работает
found-privacy-off-fix = в @BotFather: /setprivacy, выберите бота, Enable; затем добавьте его в группы заново
found-privacy-on = Режим приватности включён: в группах бот видит только то, что ему адресовано
found-quarantine-empty = Ничего не отложено
found-quarantine-some = Обновлений, которые не удалось обработать: { $count }
found-quarantine-some-fix = laplaced quarantine покажет их; --replay N или all пробует снова, --drop N или all удаляет
found-role-kept = { $role } видит то, что разрешают политики
found-role-passes = Роль { $role } обходит политики, которые отделяют владельцев друг от друга
found-role-passes-fix = от имени администратора: ALTER ROLE { $role } NOSUPERUSER NOBYPASSRLS
found-runs-none = Неудачных запусков нет
found-runs-some = Не удалось после всех попыток: { $count }
found-runs-some-fix = laplaced runs покажет почему; --revive пробует снова
found-schema-empty = База пуста; её заполнит следующий запуск
found-schema-newer = Версия { $revision } новее, чем знает эта программа ({ $head })
found-schema-newer-fix = запустите более новую программу, или: laplaced restore --force СТАРАЯ_КОПИЯ
found-schema-newest = Версия { $revision }, новейшая
found-schema-older = Версия { $revision }; следующий запуск сделает копию и доведёт её до { $head }
found-sqlite-version = Версия { $version }
found-sqlite-wal = В версии { $version } есть ошибка сброса WAL, исправленная в { $fixed }; Laplaced обходит её одним пишущим соединением (не давайте другим программам писать в базу)
found-telegram-local = Токен не задан: вместе с ботом запускается локальный Telegram
found-telegram-of = Токен от @{ $bot }
found-telegram-other-bot = Токен от @{ $bot }, а сохранённые чаты — с другим ботом ({ $known })
found-telegram-refuses = Telegram отказывает: { $error }
found-telegram-refuses-fix = подождите и проверьте снова
found-telegram-token = Telegram не знает такого токена
found-telegram-token-fix = возьмите токен у @BotFather и задайте LAPLACED_TELEGRAM__TOKEN
found-telegram-unreachable = { $address } не отвечает как Telegram ({ $error })
found-telegram-unreachable-fix = проверьте сеть, DNS и telegram.api_base
found-time-agrees = Часы этой машины сходятся с часами Telegram
found-time-off = Часы этой машины расходятся с часами Telegram, секунд: { $seconds }
found-time-off-fix = включите NTP (timedatectl set-ntp true)
found-vectors-all = Все векторы ({ $total }) — от модели { $model }
found-vectors-waiting = Текстов, ждущих вектора модели { $model }: { $waiting } из { $total }{ $foreign ->
    [0] {""}
   *[other] ; тем временем заменяются векторы другой модели или размера: { $foreign }
} (такие находятся только по имени)
found-webhook-called = Telegram вызывает { $host }
found-webhook-elsewhere = Telegram вызывает { $host } вместо { $wanted }
found-webhook-elsewhere-fix = запустите бота: он задаст telegram.webhook.url; пусть другие программы его не задают
found-webhook-failing = Telegram не может доставить: { $error } (обновлений ждёт: { $count })
found-webhook-failing-fix = сделайте telegram.webhook.url доступным снаружи, с действительным сертификатом
found-webhook-missing = Не задан
found-webhook-missing-fix = запустите бота: он задаст telegram.webhook.url; пусть другие программы его не задают
found-webhook-none = Не задан, как и нужно для опроса
found-webhook-set = Задан ({ $host }), поэтому при опросе Telegram ничего не отдаёт
found-webhook-set-fix = остановите программу, которая его задала, и вызовите deleteWebhook, или выберите mode: webhook
found-webhook-waiting = Обновлений ждёт в Telegram: { $count }
found-workers-count = Работающих процессов на этой и других машинах: { $count }
found-workers-none = Ни один процесс не работает; начнёт laplaced run
