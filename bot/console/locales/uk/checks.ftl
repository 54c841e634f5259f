# Results of the health checks, by key. The English texts are in the code of the checks.
found-backups-made = Копій у теці даних: { $count }; останню зроблено { $age_seconds } тому
found-backups-none = Немає жодної копії
found-backups-none-fix = laplaced backup (з cron або за таймером: див. docs/operations.md)
found-backups-none-yet = Копій поки немає; зробити: laplaced backup (з cron або за таймером: див. docs/operations.md)
found-backups-old = Останній копії стільки днів: { $days }
found-backups-old-fix = laplaced backup (з cron або за таймером: див. docs/operations.md)
found-clock-ahead = Збережені часи забігають у майбутнє на { $ahead_seconds }: годинник ішов неправильно тоді або йде неправильно зараз
found-clock-ahead-fix = виставте годинник і ввімкніть NTP; доти нічого не губиться
found-clock-past = Годинник показує { $now_at }, цей час уже минув
found-clock-past-fix = виставте годинник і ввімкніть NTP
found-clock-shows = { $now_at }
found-clocks-agree = Годинники сервера й цієї машини розходяться на { $seconds } с
found-clocks-differ = Годинники сервера й цієї машини розходяться на { $seconds } с; строки відлічує годинник сервера
found-clocks-differ-fix = увімкніть NTP на обох машинах
found-config-read = Налаштування прочитано; дані в { $folder }
found-connections-full = Зайнято { $used } з { $most }, процесові треба { $each }: для ще одного місця немає
found-connections-full-fix = збільште max_connections сервера, поставте перед ним pgbouncer або запускайте менше процесів
found-connections-room = Зайнято { $used } з { $most }, процесові треба { $each }: вистачить ще на { $room }
found-database-half = Перенесення в цю базу перервано
found-database-half-fix = ще раз ту саму команду laplaced migrate-store
found-database-moved = Цю базу перенесли: { $moved }
found-database-moved-fix = вкажіть у storage.url нове місце; щоб продовжити з цією: laplaced reopen
found-database-none = Її ще немає в { $path }; з’явиться з першим запуском
found-dictionaries-both = Слова запитань перекладаються іншими мовами
found-dictionaries-missing = Немає двомовного словника, слова іншими мовами знаходяться лише за змістом; встановити: apt install mueller7-dict apertium-rus-ukr
found-disk-free = Вільно { $free } ГБ
found-disk-full = Вільно { $free } ГБ, база займає { $size } МБ
found-disk-full-fix = звільніть місце в { $folder }: для копій і відновлення треба { $wanted } ГБ
found-disk-no-folder = Теки даних { $folder } ще немає; з’явиться з першим запуском
found-disk-room = Вільно { $free } ГБ, база займає { $size } МБ
found-embedding-answers = { $model } відповідає, чисел у векторі: { $size }
found-embedding-error = { $error }
found-embedding-error-fix = перевірте embedding.base_url, embedding.api_key та embedding.model; доти людей видно за іменем
found-embedding-offline = Відповідає вбудована модель { $model }
found-embedding-size = { $error }
found-embedding-size-fix = вкажіть в embedding.dimensions стільки, скільки дає { $model } (зараз { $size })
found-encoding-other = Кодування бази — { $encoding }, воно підходить не для всіх мов
found-encoding-other-fix = CREATE DATABASE laplaced ENCODING 'UTF8' TEMPLATE template0, потім: laplaced migrate-store
found-hidden-unexplained = Лишиться прихованим назавжди, хоч забути це ніхто не просить: { $count } (користувач { $user })
found-hidden-unexplained-fix = { $command } покаже це знову
found-integrity-damaged = Файл бази пошкоджено: { $damage }
found-integrity-damaged-fix = зупиніть бота, потім: { $command }
found-integrity-lost = Файл бази пошкоджено: { $damage }
found-integrity-lost-fix = відновіть базу зі своєї копії
found-integrity-sound = Файл бази цілий
found-keys-exposed = { $path } можуть прочитати інші (права { $mode })
found-keys-exposed-fix = chmod 600 { $path }
found-keys-private = Доступні лише власникові файлів
found-mirror-answers = { $target } відповідає, відстає на стільки змін: { $count }
found-mirror-error = { $target }: { $error }
found-mirror-error-fix = перевірте graph.mirror_url і сервер; бот працює без нього, і дзеркало наздожене саме
found-mirror-missing = { $error }
found-mirror-missing-fix = pip install '.[graph]' у теці Laplaced, або залиште graph.mirror_url порожнім
found-mirror-none = Не налаштовано; `laplaced graph query` створює його на час запитання
found-mirror-none-missing = Не налаштовано, і запитати мовою Cypher не можна: { $error }
found-mirror-starts = { $target } запускається разом із ботом
found-model-answers = { $model } відповідає
found-model-error = { $model }: { $error }
found-model-error-fix = перевірте llm.base_url, llm.api_key та ім’я моделі; повідомлення зберігаються, доки вона не відповість
found-model-unknown = { $model }: { $error }
found-model-unknown-fix = задайте в llm.model або в агента модель, яка є на сервері; те, що чекає, продовжиться само
found-model-misconfigured = { $error }
found-model-misconfigured-fix = виправте llm.base_url та llm.api_key
found-model-local = { $file } завантажується, коли запускається бот
found-model-offline = Відповідають вбудовані моделі: ключ не задано
found-morphology-both = Словники російської та української мов на місці
found-morphology-no-ukrainian = Немає українського словника, українські слова читаються за правилами; встановити: pip install '.[ukrainian]' у теці Laplaced
found-other-bot-waits = Повідомлень іншого бота, що чекають на його токен: { $count }; цей бот їх не надсилає
found-outbox-empty = Усе надіслано{ $held ->
    [0] {""}
   *[other] ; чекають на тих, хто зупинив бота: { $held }
}
found-outbox-next-start = Підуть із наступним запуском: { $count }{ $held ->
    [0] {""}
   *[other] ; чекають на тих, хто зупинив бота: { $held }
}
found-outbox-on-way = У дорозі: { $count }{ $held ->
    [0] {""}
   *[other] ; чекають на тих, хто зупинив бота: { $held }
}
found-outbox-stuck = Не надіслано: { $count }, найдовше чекають { $late_seconds }{ $held ->
    [0] {""}
   *[other] ; чекають на тих, хто зупинив бота: { $held }
}
found-outbox-stuck-fix = подивіться перевірку Telegram і рядки send_failed у журналі, потім перезапустіть
found-postgresql-old = Версія { $version } надто стара: потрібна { $wanted } або новіша
found-postgresql-old-fix = оновіть сервер або переїдьте на новіший: laplaced migrate-store
found-postgresql-unusable = { $trouble }
found-postgresql-unusable-fix = виправте storage.url або перевірте сервер; доти нічого не губиться
found-postgresql-version = Версія { $version }
found-privacy-off = Режим приватності вимкнено: Telegram шле боту всі повідомлення з усіх його груп, хоча в групах він не працює
found-privacy-off-fix = у @BotFather: /setprivacy, виберіть бота, Enable; потім додайте його до груп наново
found-privacy-on = Режим приватності ввімкнено: у групах бот бачить лише те, що йому адресовано
found-quarantine-empty = Нічого не відкладено
found-quarantine-some = Оновлень, які не вдалося опрацювати: { $count }
found-quarantine-some-fix = laplaced quarantine покаже їх; --replay N або all пробує знову, --drop N або all видаляє
found-role-kept = { $role } бачить те, що дозволяють політики
found-role-passes = Роль { $role } обходить політики, що відділяють власників одного від одного
found-role-passes-fix = від імені адміністратора: ALTER ROLE { $role } NOSUPERUSER NOBYPASSRLS
found-runs-none = Невдалих запусків немає
found-runs-some = Не вдалося після всіх спроб: { $count }
found-runs-some-fix = laplaced runs покаже чому; --revive пробує знову
found-schema-empty = База порожня; її заповнить наступний запуск
found-schema-newer = Версія { $revision } новіша, ніж знає ця програма ({ $head })
found-schema-newer-fix = запустіть новішу програму, або: laplaced restore --force СТАРІША_КОПІЯ
found-schema-newest = Версія { $revision }, найновіша
found-schema-older = Версія { $revision }; наступний запуск зробить копію й доведе її до { $head }
found-sqlite-version = Версія { $version }
found-sqlite-wal = У версії { $version } є помилка скидання WAL, виправлена в { $fixed }; Laplaced обходить її одним з’єднанням для запису (не давайте іншим програмам писати в базу)
found-telegram-local = Токен не задано: разом із ботом запускається локальний Telegram
found-telegram-of = Токен від @{ $bot }
found-telegram-other-bot = Токен від @{ $bot }, а збережені чати — з іншим ботом ({ $known })
found-telegram-refuses = Telegram відмовляє: { $error }
found-telegram-refuses-fix = зачекайте й перевірте знову
found-telegram-token = Telegram не знає такого токена
found-telegram-token-fix = візьміть токен у @BotFather і задайте LAPLACED_TELEGRAM__TOKEN
found-telegram-unreachable = { $address } не відповідає як Telegram ({ $error })
found-telegram-unreachable-fix = перевірте мережу, DNS і telegram.api_base
found-time-agrees = Годинник цієї машини збігається з годинником Telegram
found-time-off = Годинник цієї машини розходиться з годинником Telegram, секунд: { $seconds }
found-time-off-fix = увімкніть NTP (timedatectl set-ntp true)
found-vectors-all = Усі вектори ({ $total }) — від моделі { $model }
found-vectors-waiting = Текстів, що чекають на вектор моделі { $model }: { $waiting } з { $total }{ $foreign ->
    [0] {""}
   *[other] ; тим часом замінюються вектори іншої моделі чи розміру: { $foreign }
} (такі знаходяться лише за іменем)
found-webhook-called = Telegram викликає { $host }
found-webhook-elsewhere = Telegram викликає { $host } замість { $wanted }
found-webhook-elsewhere-fix = запустіть бота: він задасть telegram.webhook.url; хай інші програми його не задають
found-webhook-failing = Telegram не може доставити: { $error } (оновлень чекає: { $count })
found-webhook-failing-fix = зробіть telegram.webhook.url досяжним ззовні, з чинним сертифікатом
found-webhook-missing = Не задано
found-webhook-missing-fix = запустіть бота: він задасть telegram.webhook.url; хай інші програми його не задають
found-webhook-none = Не задано, як і треба для опитування
found-webhook-set = Задано ({ $host }), тому під час опитування Telegram нічого не віддає
found-webhook-set-fix = зупиніть програму, яка його задала, і викличте deleteWebhook, або виберіть mode: webhook
found-webhook-waiting = Оновлень чекає в Telegram: { $count }
found-workers-count = Процесів, що працюють на цій та інших машинах: { $count }
found-workers-none = Жоден процес не працює; почне laplaced run
