# Люди: списки, профіль, виправлення, об’єднання, пропозиції.

circle = { $circle ->
    [Family] Родина
    [Work_Inner] Близькі колеги
    [Friends] Друзі
    [Work_Outer] Колеги
   *[Other] Інші
}
people-count = { $count } { $count ->
    [one] людина
    [few] людини
   *[other] людей
}
people-none =
    Поки я нікого не знаю.
    Розкажи про когось, надішли контакт або перешли повідомлення — і тут з’являться люди.
people-overview =
    Я знаю { $count } { $count ->
        [one] людину
        [few] людини
       *[other] людей
    }. Кого показати?
people-overview-group =
    Тут я знаю { $members } { $members ->
        [one] учасника
       *[other] учасників
    } за їхніми повідомленнями та { $others } { $others ->
        [one] людину
        [few] людини
       *[other] людей
    } з ваших розповідей. Кого показати?
people-circle-button = { $circle }: { $count }
people-circle-title = **{ $circle }** — { $count } { $count ->
    [one] людина
    [few] людини
   *[other] людей
}
people-page = { $page } з { $pages }
people-suggestions-button = Є питання: { $count }

person-ask = Про кого розповісти? Напиши ім’я, @username або прізвисько.
person-unknown = Я не знаю нікого на ім’я «{ $name }».
person-choose = Ім’я «{ $name }» підходить кільком людям. Хто потрібен?
person-title = **{ $name }**
person-circle = Коло: { $circle }
person-aliases = Ще звуть: { $aliases }
person-username = Telegram: @{ $username }
person-mentions = Згадується в { $count } { $count ->
    [one] розмові
   *[other] розмовах
}
person-seen = У пам’яті з { DATETIME($first, dateStyle: "long") }, востаннє { DATETIME($last, dateStyle: "long") }
person-seen-once = У пам’яті з { DATETIME($first, dateStyle: "long") }
person-button-circle = Коло
person-button-edit = Змінити
person-button-merge = Об’єднати з…
person-button-forget = Забути

person-choose-circle = До якого кола віднести: { $name }?
person-choose-field = { $name }: що змінити?
person-button-display_name = Ім’я
person-button-bio = Про людину
person-button-aliases = Інші імена
person-button-username = Ім’я користувача
person-edit-display_name = Як правильно? Зараз: { $value }. Попереднє ім’я лишиться серед інших імен.
person-edit-bio = Що мені пам’ятати? Напиши повністю, новий текст замінить попередній:
person-edit-aliases = Як ще звуть? Перелічи через кому; список замінить попередній, «-» очистить його. Зараз: { $value }
person-nothing-yet = нічого
person-saved = Готово, запам’ятав. Раз це вказано тобою, саме собою воно вже не зміниться.

merge-choose = Хто це насправді — та сама людина, що «{ $name }»? Вибери зі списку або напиши ім’я.
merge-confirm = Об’єднати? «{ $source }» стане частиною профілю «{ $target }»: імена й відомості об’єднаються, лишиться ім’я «{ $target }».
merge-button-yes = Об’єднати
merge-done = Готово: { $source } і { $target } тепер одна людина.
merge-button-undo = Повернути як було
merge-undone = Знову дві людини: { $source } і { $target }.
merge-nobody = Об’єднувати поки нема з ким: інших людей я не знаю.

contact-added = Тепер я знаю: { $name }.
contact-updated = Знаю таку людину: { $name }. Звірив контакт.
contact-without-account = Узяти цю картку не вийшло: { $name }. Розкажи про цю людину словами — запам’ятаю.
contact-self = Це ж твій власний контакт! Тебе до списку людей не записуватиму.

suggestion-none = Питань більше немає.
suggestion-circle = { $name }: з розмови схоже, що це «{ $value }», а в тебе позначено «{ $current }». Змінити?
suggestion-display_name = { $name }: у розмові прозвучало ім’я { $value }. Записати його замість попереднього?
suggestion-bio =
    { $name }: з розмови вийшов інший опис.
    Зараз: { $current }
    Новий: { $value }
    Змінити?
suggestion-aliases = { $name }: схоже, так теж звуть: { $value }. Додати?
suggestion-username = { $name }: схоже, це @{ $value } у Telegram. Записати?
suggestion-username-other = { $name }: схоже, у Telegram це @{ $value }, а не @{ $current }. Змінити?
suggestion-merge = Схоже, що { $source } і { $target } — одна людина. Об’єднати?
suggestion-button-apply = Так
suggestion-button-keep = Лишити як є
suggestion-applied = Гаразд, змінив: { $name }.
suggestion-kept = Гаразд, лишаю як є.

refused-self_merge = Людину не можна об’єднати із самою собою.
refused-different_telegram_ids = У них різні акаунти Telegram, отже, це дві різні людини.
refused-different_usernames = У них різні @username, отже, це дві різні людини.
refused-already_merged = Цей профіль уже об’єднано з іншим.
refused-no_name = Потрібне ім’я, в якому є хоча б одна літера чи цифра.
refused-bad_value = Задовго. Спробуй, будь ласка, коротше.
refused-username_taken = Такий @username уже має інша людина.
refused-being_forgotten = Цю людину я саме забуваю. Якщо це помилка, натисни «Повернути» під тим повідомленням.

map-empty = Ще не знаю, хто ким тобі доводиться. Розкажи: «Марія — моя сестра», «мій начальник Петро».
map-caption = { $count ->
    [one] Навколо тебе { $count } людина
    [few] Навколо тебе { $count } людини
   *[other] Навколо тебе { $count } людей
  }{ $inferred ->
    [0] .
   *[other] ; зв’язків, які я вивів сам, — { $inferred } (пунктир).
  }
contacts-unreadable = Не можу прочитати контакти з цього файлу. Я розумію vCard (.vcf) і CSV із Google.
contacts-review = Контакти: нових { $new }, доповнень { $updated }, уже знаю { $same }, пропущено { $left }.
contacts-new = { $name } — нова людина
contacts-perhaps = (можливо, це { $names }: запитаю)
contacts-updates = { $name } — додасться: { $adds }
contacts-more = … і ще { $count }
contacts-button-yes = Взяти { $count }
contacts-left = Залишаю як є: нічого не взято.
contacts-again = Цей файл мені більше не відкрити. Надішли його ще раз, будь ласка.
contacts-done = Взято: нових — { $new }, доповнено — { $updated }. Біля кожного факту зазначено, що він із контактів.
contacts-ask = Можливо, декого я вже знаю: { $count }. Зазирни в /people.
map-communities = Разом у твоїх розповідях: { $list }.
