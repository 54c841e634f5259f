# Люди: списки, профиль, правка, объединение, предложения.

circle = { $circle ->
    [Family] Семья
    [Work_Inner] Близкие коллеги
    [Friends] Друзья
    [Work_Outer] Коллеги
   *[Other] Остальные
}
people-count = { $count } { $count ->
    [one] человек
    [few] человека
   *[other] человек
}
people-none =
    Пока я никого не знаю.
    Расскажи о ком-нибудь, пришли контакт или перешли сообщение — и здесь появятся люди.
people-overview =
    Я знаю { $count } { $count ->
        [one] человека
        [few] человека
       *[other] человек
    }. Кого показать?
people-overview-group =
    Здесь я знаю { $members } { $members ->
        [one] участника
       *[other] участников
    } по их сообщениям и { $others } { $others ->
        [one] человека
        [few] человека
       *[other] человек
    } по вашим рассказам. Кого показать?
people-circle-button = { $circle }: { $count }
people-circle-title = **{ $circle }** — { $count } { $count ->
    [one] человек
    [few] человека
   *[other] человек
}
people-page = { $page } из { $pages }
people-suggestions-button = Есть вопросы: { $count }

person-ask = О ком рассказать? Напиши имя, @username или прозвище.
person-unknown = Я не знаю никого по имени «{ $name }».
person-choose = Под имя «{ $name }» подходят несколько человек. Кто нужен?
person-title = **{ $name }**
person-circle = Круг: { $circle }
person-aliases = Ещё зовут: { $aliases }
person-username = Telegram: @{ $username }
person-mentions = Встречается в { $count } { $count ->
    [one] разговоре
   *[other] разговорах
}
person-seen = В памяти с { DATETIME($first, dateStyle: "long") }, последний раз { DATETIME($last, dateStyle: "long") }
person-seen-once = В памяти с { DATETIME($first, dateStyle: "long") }
person-button-circle = Круг
person-button-edit = Изменить
person-button-merge = Объединить с…
person-button-forget = Забыть

person-choose-circle = В какой круг отнести: { $name }?
person-choose-field = { $name }: что изменить?
person-button-display_name = Имя
person-button-bio = О человеке
person-button-aliases = Другие имена
person-button-username = Имя пользователя
person-edit-display_name = Как правильно? Сейчас: { $value }. Прежнее имя останется среди других имён.
person-edit-bio = Что мне помнить? Напиши целиком, новый текст заменит прежний:
person-edit-aliases = Как ещё зовут? Перечисли через запятую; список заменит прежний, «-» очистит его. Сейчас: { $value }
person-nothing-yet = ничего
person-saved = Готово, запомнил. Раз это указано тобой, само оно уже не изменится.

merge-choose = Кто это на самом деле — тот же человек, что «{ $name }»? Выбери из списка или напиши имя.
merge-confirm = Объединить? «{ $source }» станет частью профиля «{ $target }»: имена и сведения объединятся, останется имя «{ $target }».
merge-button-yes = Объединить
merge-done = Готово: { $source } и { $target } теперь один человек.
merge-button-undo = Вернуть как было
merge-undone = Снова два человека: { $source } и { $target }.
merge-nobody = Объединять пока не с кем: других людей я не знаю.

contact-added = Теперь я знаю: { $name }.
contact-updated = Знаю такого человека: { $name }. Сверил контакт.
contact-without-account = Взять эту карточку не получилось: { $name }. Расскажи об этом человеке словами — запомню.
contact-self = Это же твой собственный контакт! Себя в список людей записывать не буду.

suggestion-none = Вопросов больше нет.
suggestion-circle = { $name }: из разговора похоже, что это «{ $value }», а у тебя отмечено «{ $current }». Поменять?
suggestion-display_name = { $name }: в разговоре прозвучало имя { $value }. Записать его вместо прежнего?
suggestion-bio =
    { $name }: из разговора вышло другое описание.
    Сейчас: { $current }
    Новое: { $value }
    Поменять?
suggestion-aliases = { $name }: похоже, так тоже зовут: { $value }. Добавить?
suggestion-username = { $name }: похоже, это @{ $value } в Telegram. Записать?
suggestion-username-other = { $name }: похоже, в Telegram это @{ $value }, а не @{ $current }. Поменять?
suggestion-merge = Похоже, что { $source } и { $target } — один человек. Объединить?
suggestion-button-apply = Да
suggestion-button-keep = Оставить как есть
suggestion-applied = Хорошо, поменял: { $name }.
suggestion-kept = Хорошо, оставляю как есть.

refused-self_merge = Человека нельзя объединить с самим собой.
refused-different_telegram_ids = У них разные аккаунты Telegram, значит, это два разных человека.
refused-different_usernames = У них разные @username, значит, это два разных человека.
refused-already_merged = Этот профиль уже объединён с другим.
refused-no_name = Нужно имя, в котором есть хотя бы одна буква или цифра.
refused-bad_value = Слишком длинно. Попробуй, пожалуйста, короче.
refused-username_taken = Такой @username уже есть у другого человека.
refused-being_forgotten = Этого человека я как раз забываю. Если это ошибка, нажми «Вернуть» под тем сообщением.

map-empty = Пока не знаю, кто кем тебе приходится. Расскажи: «Маша — моя сестра», «мой начальник Пётр».
map-caption = { $count ->
    [one] Вокруг тебя { $count } человек
    [few] Вокруг тебя { $count } человека
   *[other] Вокруг тебя { $count } человек
  }{ $inferred ->
    [0] .
   *[other] ; связей, которые я вывел сам, — { $inferred } (пунктир).
  }
contacts-unreadable = Не могу прочитать контакты из этого файла. Я понимаю vCard (.vcf) и CSV из Google.
contacts-review = Контакты: новых { $new }, дополнений { $updated }, уже знаю { $same }, пропущено { $left }.
contacts-new = { $name } — новый человек
contacts-perhaps = (возможно, это { $names }: спрошу)
contacts-updates = { $name } — добавится: { $adds }
contacts-more = … и ещё { $count }
contacts-button-yes = Взять { $count }
contacts-left = Оставил как есть: ничего не взял.
contacts-again = Этот файл мне больше не открыть. Пришли его ещё раз, пожалуйста.
contacts-done = Взял: новых — { $new }, дополнено — { $updated }. У каждого факта указано, что он из контактов.
contacts-ask = Возможно, некоторых я уже знаю: { $count }. Загляни в /people.
map-communities = Вместе в твоих рассказах: { $list }.
