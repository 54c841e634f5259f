page-facts = Факти
records-cancel = Скасувати
records-save = Зберегти
facts-search = Пошук у фактах
facts-which = Які факти
facts-current = Правдиві зараз
facts-ended = Більше не правдиві
facts-all = Усі версії
facts-count = { $count ->
    [one] { $count } факт, спершу нові
    [few] { $count } факти, спершу нові
   *[many] { $count } фактів, спершу нові
}
facts-found = { $count ->
    [one] Знайдено { $count } факт, спершу найвідповідніші
    [few] Знайдено { $count } факти, спершу найвідповідніші
   *[many] Знайдено { $count } фактів, спершу найвідповідніші
}
facts-empty = Тут немає фактів
facts-empty-text = Бот знаходить факти у ваших розмовах, коли опрацює їх. Поговоріть із ним або виберіть інший список угорі.
fact-replaced = стара версія
fact-until = до { $day }
fact-corrected = виправлено
fact-source-count = { $count ->
    [0] без джерела
    [one] { $count } джерело
    [few] { $count } джерела
   *[many] { $count } джерел
}
fact-sources = Де це було сказано
fact-no-sources = Задано вручну: у жодному повідомленні цього немає.
fact-open = Відкрити
fact-history = Історія
fact-why = Причина: { $reason }
fact-correct = Виправити
fact-correct-title = Виправити факт
fact-correct-text = Стара версія залишиться в історії. Того, що ви задали самі, моделі не змінюють.
fact-words = Як насправді
fact-reason = Чому (збережеться разом із фактом)
fact-corrected-now = Виправлено
